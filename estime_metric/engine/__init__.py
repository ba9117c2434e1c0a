"""The measure itself; knows no toolkit.

A text flows through these rooms in this order::

    text -> units (words.py, text.py) -> windows (masking.py) -> batches (batching.py)
         -> embeddings (encoder.py, with loading.py, blocks.py, last_block.py and packed.py; cache.py keeps those of
            sources)
         -> best matches -> statistics (matching.py) -> measures (measures.py)
"""
