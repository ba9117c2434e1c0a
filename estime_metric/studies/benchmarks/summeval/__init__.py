"""Tables 1 and 2 of the ESTIME paper on SummEval, measured again: data, measures, tables, plots;
extra ``meta``.

`data.read` reads it, `study` is run by `estime_metric.studies.benchmarks.shared.study.run`.
"""

import estime_metric.studies.meta  # noqa: F401  says what to install where pandas or scipy are missing
