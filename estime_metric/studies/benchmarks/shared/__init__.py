"""What the benchmarks share.

``data``, ``records``: summaries and the files that they are read from. ``blocks``: measures that are
computed together; ``estime_block``, ``baselines``, ``bertscore``, ``own_scores``: such
blocks. ``scored``: the one frame of their scores. ``running``: from data to tables. ``hub``: datasets
of the Hub. ``estime_paper``: the ESTIME paper's numbers as printed.
"""
