"""The measure itself; knows no toolkit. One stage a module, each imports those before it.

texts -> units (words, text, chunking) -> windows (masking) -> batches (batching) -> embeddings (encoder, with loading,
shipped, blocks, fused; store holds encoders, cache embeddings of sources) -> matches (matching) -> statistics, from
which `estime_metric.measures` computes the measures.
"""
