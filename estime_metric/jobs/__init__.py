"""Scoring of whole files: streamed, resumable, on one process or several."""

from estime_metric.jobs.estimate import Estimate, estimate_job
from estime_metric.jobs.inputs import count_pairs, expand
from estime_metric.jobs.job import Job, Totals
from estime_metric.jobs.run import Report, Stop, score_files
from estime_metric.jobs.team import Team, Workers

__all__ = [
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
