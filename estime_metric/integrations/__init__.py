"""Fronts of the measure inside other toolkits. Each imports its toolkit; importing this package imports none."""
