"""Thin fronts for other toolkits, each behind an extra of its own; no formula lives here."""
