"""The measure itself; knows no toolkit. Data flow one way, and each stage imports only those before
it.

`text`: texts -> units (words, tokens) -> windows in which they are masked, and chunks of work.
`encoder`: windows -> batches -> embeddings. Then matches (`matching`) and statistics
(`statistics`), from which `estime_metric.measures` computes the measures. `cache` keeps the
embeddings of sources.
"""
