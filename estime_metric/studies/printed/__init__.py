"""Numbers as the papers print them; nothing here was measured by this package."""
