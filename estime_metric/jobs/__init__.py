"""Scoring of whole files: streamed, resumable, on one process or several."""

from __future__ import annotations

from estime_metric.jobs.estimate import Estimate, estimate_job
from estime_metric.jobs.inputs import count_pairs, expand
from estime_metric.jobs.job import Job
from estime_metric.jobs.run import Report, score_files
from estime_metric.jobs.stopping import Stop
from estime_metric.jobs.team import Alone, Team, Workers
from estime_metric.jobs.totals import Totals

__all__ = [
    "Alone",
    "Estimate",
    "Job",
    "Report",
    "Stop",
    "Team",
    "Totals",
    "Workers",
    "count_pairs",
    "estimate_job",
    "expand",
    "score_files",
]
