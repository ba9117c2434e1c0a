"""The few statistics that several parts of the package need: one bootstrap of means by source, the
paired test, ranks, intervals, and agreement with labels. They know scores, not ESTIME.
"""
