"""Pictures of comparisons; each function takes data and returns a matplotlib ``Figure``. No pyplot,
no window.
"""

from __future__ import annotations

from estime_metric._extras import needs_extra

with needs_extra("plot", "Plots need matplotlib"):
    import matplotlib as _matplotlib  # noqa: F401
