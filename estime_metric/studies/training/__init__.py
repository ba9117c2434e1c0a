"""How the encoders that ship were trained and chosen, and the formula of `inconsistency` with them."""
