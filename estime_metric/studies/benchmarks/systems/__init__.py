"""How often people agree with the verdict of ``estime compare`` on two systems: SummEval, FRANK and
CLIFF; extra ``meta``.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
