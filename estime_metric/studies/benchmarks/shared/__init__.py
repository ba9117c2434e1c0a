"""What the benchmarks share.

``data``, ``records``: summaries and the files that they are read from. ``blocks``, ``scores``:
columns of scores, computed together and resumed. ``estime_block``, ``baselines``, ``bertscore``,
``blanc``, ``own_scores``: such blocks. ``frames``, ``tables``: tidy tables, tables for readers. ``benchmark``: the runner; ``standard``: the blocks of most benchmarks. ``estime_paper``: the ESTIME paper's numbers as printed.
"""
