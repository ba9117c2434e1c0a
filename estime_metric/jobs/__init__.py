"""Scoring of whole files: streamed and resumable."""

from __future__ import annotations

from estime_metric.jobs.job import Job, score_files
from estime_metric.jobs.journal import NotResumableError
from estime_metric.jobs.report import Report

__all__ = ["Job", "NotResumableError", "Report", "score_files"]
