"""Ray: data sets of Ray Data with the measures as columns, and jobs on a cluster. Importing this imports no Ray."""

from __future__ import annotations

from estime_metric.integrations.ray.dataset import score_dataset
from estime_metric.integrations.ray.team import RayTeam

__all__ = ["RayTeam", "score_dataset"]
