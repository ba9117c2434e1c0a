"""What the benchmarks share.

``data``, ``records``: summaries and the files that they are read from. ``blocks``, ``scores``:
columns of scores, computed together and resumed. ``estime_block``, ``baselines``, ``bertscore``,
``blanc``, ``own_scores``: such blocks. ``frames``: tidy tables; ``tables``: cells of tables for
readers. ``benchmark``: the runner. ``hub``: datasets of the Hub. ``estime_paper``: the ESTIME
paper's numbers as printed.
"""
