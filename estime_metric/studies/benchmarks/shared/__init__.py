"""What the studies share: measures in blocks, scores that can be resumed, one runner for every
study.
"""
