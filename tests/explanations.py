"""Explanations made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

from estime_metric import Explanation
from estime_metric.verdicts import UnitVerdict
from estime_metric.wording.source import SourceWording


def explained(
    prediction: str,
    source: str,
    units: Sequence[UnitVerdict],
    *,
    unit: str = "token",
    signature: str = "ESTIME|",
) -> Explanation:
    """An explanation of these verdicts, with the numbers that follow from them and from the texts."""
    wording = SourceWording(source)
    statistics = {
        "alarms": sum(each.verdict == "alarm" for each in units),
        "graded_alarms": math.fsum(each.graded_alarm for each in units),
        "overlap": sum(each.verdict != "absent" for each in units),
        "tokens": len(units),
        "missing": 0,
        **wording.novelty(prediction),
    }
    return Explanation(
        prediction,
        source,
        tuple(units),
        unit,
        1,
        signature,
        statistics,
        wording.read(prediction),
    )
