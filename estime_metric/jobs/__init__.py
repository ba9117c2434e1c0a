"""Scoring of whole files: streamed and resumable."""

from __future__ import annotations

from estime_metric.jobs.estimate import Estimate, estimate_job
from estime_metric.jobs.input_files import count_pairs, expand
from estime_metric.jobs.job import Job
from estime_metric.jobs.job_record import NotResumableError
from estime_metric.jobs.report import Report, ScoredPair, Totals
from estime_metric.jobs.run import Progress, score_files
from estime_metric.jobs.stop import Stop

__all__ = [
    "Estimate",
    "Job",
    "NotResumableError",
    "Progress",
    "Report",
    "ScoredPair",
    "Stop",
    "Totals",
    "count_pairs",
    "estimate_job",
    "expand",
    "score_files",
]
