"""The statistics of the commands: the bootstrap of means by source, the paired test, and thresholds.
They know scores, not ESTIME.
"""
