"""Pictures of comparisons; each function takes data and returns a matplotlib ``Figure``. No pyplot,
no window.
"""

from __future__ import annotations

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError("Plots need matplotlib: pip install 'estime-metric[meta]'.") from error
