"""Scoring of whole files: streamed, resumable, on one process or several."""

from estime_metric.jobs.by_file import MeansByFile
from estime_metric.jobs.chunks import JobPairs
from estime_metric.jobs.earlier import Values
from estime_metric.jobs.estimate import Estimate, estimate_job
from estime_metric.jobs.inputs import count_pairs, expand
from estime_metric.jobs.job import Job
from estime_metric.jobs.record import NotResumableError
from estime_metric.jobs.run import Report, score_files
from estime_metric.jobs.stop import Stop
from estime_metric.jobs.team import ChunkScores, Team, Workers, is_launched
from estime_metric.jobs.totals import Totals
from estime_metric.jobs.worst import WorstPair, WorstPairs

__all__ = [
    "ChunkScores",
    "Estimate",
    "Job",
    "JobPairs",
    "MeansByFile",
    "NotResumableError",
    "Report",
    "Stop",
    "Team",
    "Totals",
    "Values",
    "Workers",
    "WorstPair",
    "WorstPairs",
    "count_pairs",
    "estimate_job",
    "expand",
    "is_launched",
    "score_files",
]
