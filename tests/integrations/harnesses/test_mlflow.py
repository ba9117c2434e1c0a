"""ESTIME as a scorer of MLflow, logged to a local store."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from tests.integrations.harnesses.pages import run_section


def without_other_clients() -> None:
    """MLflow imports Lightning and a client of Databricks, if they are there, for what the page
    does not do.
    """
    sys.modules.update({"pytorch_lightning": None, "databricks.sdk": None})  # type: ignore[dict-item]


@pytest.mark.skipif(find_spec("mlflow") is None, reason="MLflow is not installed")
def test_the_page(tmp_path: Path) -> None:
    (printed,) = run_section(
        "MLflow", tmp_path, without_other_clients, MLFLOW_DISABLE_TELEMETRY="true"
    )
    summaries = [
        "The council closed the old iron bridge to cars.",
        "The council closed the months to cars.",
    ]
    article = "The town council voted on Tuesday to close the old iron bridge to cars. Repairs will take eighteen months."
    result = EstimeScorer(model="embedded-small").score(summaries, [article] * 2)
    means, signature, *rest = (
        re.search(r"^[\d.]+ [\d.]+ [\d.]+\n.*", printed, re.M | re.S).group().splitlines()
    )
    assert [float(mean) for mean in means.split()] == pytest.approx(
        [result.mean("alarms"), result.mean("inconsistency"), 0]
    )
    assert signature == result.signature.replace("embedded-small", "embedded")
    alarms = sorted(
        float(number) for number in re.findall(r"^([\d.]+) [a-z]+ \d", "\n".join(rest), re.M)
    )
    assert alarms == sorted(result.values("alarms").tolist())
    assert sum("best match in the source is" in line for line in rest) == sum(alarms)
