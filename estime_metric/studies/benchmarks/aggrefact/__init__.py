"""AggreFact (Tang et al. 2023): consistent summaries told from others, and marked words from
others; extra ``meta``.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install where pandas or scipy are missing
