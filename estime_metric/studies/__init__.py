"""The papers' experiments, measured again: they join the scorer and `estime_metric.meta`."""
