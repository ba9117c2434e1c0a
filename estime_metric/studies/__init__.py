"""The papers' experiments."""
