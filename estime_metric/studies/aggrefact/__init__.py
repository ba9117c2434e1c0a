"""AggreFact (Tang et al. 2023): how well measures tell consistent summaries from others, and words that annotators
marked from others; extra ``meta``."""

from __future__ import annotations

import estime_metric.meta  # noqa: F401  says what to install where pandas or scipy are missing
