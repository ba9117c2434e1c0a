"""FRANK (Pagnoni et al. 2021): how well measures follow human judgements of factuality; extra ``meta``.

`data.read` reads it, `study` is run by `estime_metric.studies.shared.study.run`.
"""

from __future__ import annotations

import estime_metric.meta  # noqa: F401  says what to install where pandas or scipy are missing
