"""Benchmarks of others on human judgements of summaries, a folder for each: BUMP, FRANK, AggreFact,
SummEdits, RAGTruth, and how often people agree with differences between systems.

They run in a clone, ``python -m experiments.benchmarks NAME DATA``, and have the shape of the
benchmarks in the package, `estime_metric.studies.benchmarks`, whose machinery they use. Extra
``meta``.
"""
