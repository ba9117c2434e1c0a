"""The commands of the studies; `estime_metric.cli` knows them by name."""
