"""The measure itself; knows no toolkit.

Data flow one way, one stage a module; a stage imports those before it::

    texts -> units          words.py, text.py; chunking.py: chunks of pairs
          -> windows        masking.py
          -> batches        batching.py
          -> embeddings     encoder.py, with loading.py, shipped.py, int8.py, blocks.py, fused.py;
                            store.py holds encoders, cache.py embeddings of sources
          -> matches        matching.py
          -> statistics     statistics.py, from which estime_metric/measures.py computes the measures
"""
