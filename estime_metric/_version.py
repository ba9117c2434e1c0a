"""The package's version, written here alone."""

__version__ = "0.7.0"
