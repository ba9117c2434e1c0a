"""Pictures of a meta-evaluation, for paper and screen: each function takes data and returns a
matplotlib ``Figure``.

They do not touch pyplot, styles or windows. Sizes fit a page at full width; no color has a meaning
alone.
"""

from __future__ import annotations

from estime_metric._extras import needs_extra

with needs_extra("plot", "Plots need matplotlib"):
    import matplotlib as _matplotlib  # noqa: F401

from estime_metric.show.plot import save
from estime_metric.studies.meta.plots.curves import plot_layers
from estime_metric.studies.meta.plots.systems import (
    plot_bias,
    plot_intra_system,
)

__all__ = [
    "plot_bias",
    "plot_intra_system",
    "plot_layers",
    "save",
]
