"""The papers' experiments, a folder for each, on `shared`.

All have one shape: ``data`` (files -> summaries), statistics (scores -> tidy tables with the paper's
figures), tables for readers, and plots if the paper has some. A `shared.running.Benchmark` names
these parts, and `shared.running.run` runs them.
"""
