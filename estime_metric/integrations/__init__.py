"""Thin integrations into other toolkits. Each imports its toolkit; importing this package imports
none.
"""
