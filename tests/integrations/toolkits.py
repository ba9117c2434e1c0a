"""Every toolkit as one function: summaries, sources and options -> what it reports.

A toolkit reports under the names of the table in docs/measures.md; a name that is not there is a
KeyError.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

from estime_metric import EstimeScorer
from tests.command import json_rows, run_command, write_jsonl


@dataclass
class Reported:
    """What a toolkit reports: reported name (see `reported_name`) -> the value of each summary, NaN
    if it is undefined, and the mean; only those that it has.
    """

    values: dict[str, list[float]] = field(default_factory=dict)
    means: dict[str, float] = field(default_factory=dict)
    blank: float | None = None
    signature: str | None = None


Report = Callable[..., Reported]
Texts = Sequence[str]


@dataclass(frozen=True)
class Toolkit:
    """A toolkit, and what it can do.

    Attributes:
        report: called with summaries, sources, the names to report, and options of `EstimeConfig`.
        layers: whether it reads several layers.
        cached: whether it shares the cache of the process.
        skips: whether an invalid pair is skipped and not an error.
        nothing: whether it can be called without pairs.
    """

    report: Report
    layers: bool = False
    cached: bool = False
    skips: bool = False
    nothing: bool = True


def number(value: Any) -> float:
    return math.nan if value is None else float(value)


def by_columns(summaries: Texts, sources: Texts, names: Texts, **options: Any) -> Reported:
    columns = EstimeScorer(**options).map_batch(
        {"summary": summaries, "source": sources}, signature_column="signature"
    )
    blank = sum(columns["blank"]) if "blank" in columns else None
    signature = next(iter(columns["signature"]), None)
    return Reported({name: columns[name] for name in names}, {}, blank, signature)


def by_json(summaries: Texts, sources: Texts, names: Texts, **options: Any) -> Reported:
    with TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        pairs = zip(sources, summaries, strict=True)
        lines = [{"source": source, "summary": summary} for source, summary in pairs]
        table = write_jsonl(folder / "pairs.jsonl", lines)
        (folder / "config.json").write_text(
            json.dumps({**options, "measures": [*options.get("measures", ())]})
        )
        out = folder / "scores.jsonl"
        command = ["score", table, "--json", "-q", "-o", out, "--config", folder / "config.json"]
        printed = json.loads(run_command(*command, status=None).stdout)
        meta = json.loads((folder / "scores.jsonl.meta.json").read_text())
        rows = json_rows(out)
    means = {name: number(printed["measures"][name]["mean"]) for name in names}
    for name in ("measures", "blank", "signature"):
        assert meta[name] == printed[name]
    values = {name: [number(line[name]) for line in rows] for name in names}
    return Reported(values, means, printed["blank"], printed["signature"])


def by_evaluate(summaries: Texts, sources: Texts, names: Texts, **options: Any) -> Reported:
    pytest.importorskip("evaluate")
    from estime_metric.integrations.evaluate import Estime

    scores: Any = Estime(**options).compute(predictions=summaries, sources=sources)
    means = {name: scores[name] for name in names}
    values = {name: scores[f"{name}_scores"] for name in names if f"{name}_scores" in scores}
    return Reported(values, means, scores.get("blank"), scores["signature"])


def by_torchmetrics(summaries: Texts, sources: Texts, names: Texts, **options: Any) -> Reported:
    pytest.importorskip("torchmetrics")
    from estime_metric import ESTIME

    mean, each = (ESTIME(return_dict=True, reduction=kind, **options) for kind in ("mean", None))
    for metric in (mean, each):
        for start in range(0, max(1, len(summaries)), 3):  # in batches of different sizes
            metric.update(summaries[start : start + 3], sources=sources[start : start + 3])
    means, values = mean.compute(), each.compute()
    return Reported(
        {name: values[name].tolist() for name in names},
        {name: float(means[name]) for name in names},
        means.get("blank"),
        mean.signature,
    )


def by_inspect(summaries: Texts, sources: Texts, names: Texts, **options: Any) -> Reported:
    pytest.importorskip("inspect_ai")
    from estime_metric.integrations.inspect import estime

    score = estime(source="article", explain=False, **options)

    async def all_at_once() -> list[Any]:
        states = [
            SimpleNamespace(
                output=SimpleNamespace(completion=summary),
                metadata={"article": source},
                sample_id=0,
            )
            for summary, source in zip(summaries, sources, strict=True)
        ]
        return await asyncio.gather(*(score(state, None) for state in states))

    scores = asyncio.run(all_at_once())
    return Reported(
        {name: [score.value[name] for score in scores] for name in names},
        {},
        sum(score.value["blank"] for score in scores),
        scores[0].metadata["signature"] if scores else None,
    )


def by_trl(summaries: Texts, sources: Texts, names: Texts, **options: Any) -> Reported:
    from estime_metric.integrations.trl import estime_reward

    options.pop("measures", None)  # it has its own
    logged: dict[str, float] = {}
    reward = estime_reward("article", copy_penalty=0, **options)
    rewards = reward(completions=summaries, article=sources, log_metric=logged.__setitem__)
    return Reported(
        {"inconsistency": [-value for value in rewards]},
        {name: logged[f"estime/{name}"] for name in names if f"estime/{name}" in logged},
        logged.get("estime/blank", 0),
        reward.signature,
    )


TOOLKITS = {
    "columns": Toolkit(by_columns, layers=True),
    "json": Toolkit(by_json, layers=True, skips=True, nothing=False),
    "evaluate": Toolkit(by_evaluate, layers=True, cached=True),
    "torchmetrics": Toolkit(by_torchmetrics, layers=True, cached=True),
    "inspect": Toolkit(by_inspect, cached=True),
    "trl": Toolkit(by_trl, cached=True),
}
