"""The measure itself; knows no toolkit.

A text flows through these rooms in this order::

    text -> units (text.py) -> windows (masking.py) -> embeddings (encoder.py)
         -> best matches -> statistics (matching.py) -> measures (measures.py)
"""
