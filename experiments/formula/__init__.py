"""How the formula of `inconsistency` was chosen; README.md is the record, of the bundled encoders too."""
