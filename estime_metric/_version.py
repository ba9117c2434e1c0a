"""The package's version, written here alone."""

__version__ = "0.8.0.dev0"
