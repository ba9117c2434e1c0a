"""The papers' experiments and benchmarks on human judgements, a folder each, on `shared`."""
