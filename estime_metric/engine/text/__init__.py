"""Texts -> words, tokens, windows in which they are masked, chunks of work; no encoder is needed."""
