"""The papers' experiments, a folder for each, on `shared`.

All have one shape: ``data`` (files -> summaries), ``statistics`` (scores -> tidy tables), ``tables``
(for readers), and ``plots`` if the paper has some. A `shared.benchmark.Benchmark` names these parts,
and `shared.benchmark.run` runs them.
"""
