"""The papers' experiments and benchmarks on human judgements, a folder for each, on `shared`.

All have one shape: ``data`` (files -> summaries), ``statistics`` (scores -> tidy tables), ``tables``
(for readers), ``plots`` if the paper has some, which a `shared.benchmark.Benchmark` puts together for
`shared.benchmark.run`.
"""
