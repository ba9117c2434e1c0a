"""The demo of the Space; the page itself is in the package estime-metric."""

from estime_metric.demo.app import launch

if __name__ == "__main__":
    launch()
