"""SummEdits (Laban et al. 2023): consistent edits of summaries detected among inconsistent ones, in
ten domains; extra ``meta``.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
