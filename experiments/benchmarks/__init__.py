"""Benchmarks of others on human judgements of summaries: BUMP, FRANK, AggreFact, SummEdits, RAGTruth, and
how often people agree with differences between systems.

They run in a clone, ``python -m experiments.benchmarks NAME DATA``. Extra ``meta``.
"""
