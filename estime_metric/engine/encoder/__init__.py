"""Windows -> embeddings: how encoders are loaded, run in batches, and shared."""
