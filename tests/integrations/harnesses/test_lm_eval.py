"""ESTIME in lm-evaluation-harness: the functions of a task, and the harness's own command line."""

from __future__ import annotations

import json
from functools import partialmethod
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.integrations.lm_eval import EstimeTask
from tests.command import json_rows
from tests.integrations.harnesses.pages import run_section


def test_errors(bert_folder: str) -> None:
    with pytest.raises(ValueError, match="'article', but the document at index 1 does not"):
        EstimeTask("article", model=bert_folder).score(
            ["a", "b"], [{"article": "c"}, {"text": "d"}]
        )


def without_its_own_tasks() -> None:
    """Has the harness look through its 14,000 files of tasks only if it is asked to."""
    from lm_eval.tasks import TaskManager

    TaskManager.__init__ = partialmethod(TaskManager.__init__, include_defaults=False)


def test_the_page(tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    table, shown = run_section(
        "lm-evaluation-harness", tmp_path, without_its_own_tasks, HF_HOME=str(tmp_path / "hf")
    )
    assert "inconsistency" in table
    (file,) = (tmp_path / "results").rglob("results_*.json")
    results = json.loads(file.read_text(encoding="utf-8"))["results"]["given"]
    documents = json_rows(tmp_path / "documents.jsonl")
    result = EstimeScorer(model="embedded-small").score(
        [document["summary"] for document in documents],
        [document["article"] for document in documents],
    )
    assert results["blank,estime"] == 0
    for name in ("alarms", "inconsistency"):
        values = result.values(name)
        assert results[f"{name},estime"] == pytest.approx(float(values.mean()))
        assert results[f"{name}_stderr,estime"] == pytest.approx(
            float(values.std()) / len(values) ** 0.5
        )
        assert results[f"{name}_stderr,estime"] > 0
    lines = [line.split(maxsplit=2) for line in shown.splitlines()]
    assert [float(alarms) for alarms, _, _ in lines] == result.values("alarms").tolist()
    assert {signature for _, _, signature in lines} == {
        result.signature.replace("embedded-small", "embedded")
    }
