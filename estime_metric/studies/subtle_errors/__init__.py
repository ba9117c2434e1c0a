"""Subtle errors, section 4 of the paper: how they are made, and which measures see them."""

from estime_metric.studies.subtle_errors.generator import SubtleErrors
from estime_metric.studies.subtle_errors.records import Corrupted, SubtleError

__all__ = ["Corrupted", "SubtleError", "SubtleErrors"]
