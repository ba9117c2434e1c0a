"""The papers' experiments, measured anew: they join the scorer and `estime_metric.meta`."""
