"""How the bundled encoders were trained and chosen, and the formula of `inconsistency` with them."""
