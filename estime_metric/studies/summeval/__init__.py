"""Tables 1 and 2 of the ESTIME paper on SummEval, measured again: data, measures, tables, plots; extra ``meta``.

`study` is the whole of it: `study.read`, `study.all_blocks`, `study.run`.
"""

from __future__ import annotations

import estime_metric.meta  # noqa: F401  says what to install where pandas or scipy are missing
