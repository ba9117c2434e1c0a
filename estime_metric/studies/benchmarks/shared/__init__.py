"""What the benchmarks share.

``data``, ``records``: summaries, and the files and Hub datasets that they are read from. ``blocks``:
measures that are computed together; ``estime_block``, ``baselines``, ``bertscore``, ``own_scores``: such
blocks. ``scored``: the one frame of their scores. ``running``: from data to tables. ``estime_paper``: the
ESTIME paper's numbers as printed.
"""
