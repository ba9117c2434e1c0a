"""Subtle errors, section 4 of the paper: how they are made, and which measures see them."""

from estime_metric.studies.benchmarks.subtle_errors.generator import (
    Corrupted,
    SubtleError,
    SubtleErrors,
)

__all__ = ["Corrupted", "SubtleError", "SubtleErrors"]
