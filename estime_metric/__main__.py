"""``python -m estime_metric``: the command line."""

from estime_metric.cli import main

if __name__ == "__main__":
    main()
