"""Scoring of whole files: streamed and resumable."""

from __future__ import annotations

from estime_metric.jobs.input_files import expand
from estime_metric.jobs.job import Job
from estime_metric.jobs.job_record import NotResumableError
from estime_metric.jobs.report import Report, ScoredPair
from estime_metric.jobs.run import Progress, score_files

__all__ = [
    "Job",
    "NotResumableError",
    "Progress",
    "Report",
    "ScoredPair",
    "expand",
    "score_files",
]
