"""The comparison of coherence measures of Steen & Markert 2022, computed again from the scores that
they published; extra ``meta``. No measure is computed here: see
`estime_metric.studies.coherence_measures` for that.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install if pandas or scipy are missing
