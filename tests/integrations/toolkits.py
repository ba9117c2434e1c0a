"""Every toolkit as one function: summaries, sources and options -> what it reports.

A toolkit reports under the names of the table in docs/measures.md; a name that is not there is a
KeyError. `NAMES` has the table.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import pytest

from estime_metric import EstimeScorer
from tests.command import json_rows, run_command, write_jsonl
from tests.integrations.two_processes import process_group

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measures.md"


@dataclass(frozen=True)
class Names:
    """A row of the table: the first code in each cell, ``None`` if it has none."""

    mean: str | None
    value: str | None
    layer: str | None
    blank: str | None
    signature: str | None


def read_names() -> dict[str, Names]:
    """First word of a toolkit -> its row."""
    rows = {}
    _, section = PAGE.read_text(encoding="utf-8").split("## Names in each toolkit\n")
    for line in section.partition("\n## ")[0].splitlines():
        if line.startswith("| ") and not line.startswith("| toolkit"):
            toolkit, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            codes = [re.search("`(.+?)`", cell) for cell in cells]
            name = re.findall(r"\w+", toolkit)[0].lower()
            rows[name] = Names(*(code and code[1] for code in codes))
    return rows


NAMES = read_names()


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


@dataclass(frozen=True)
class Toolkit:
    """A toolkit, and what it can do.

    Attributes:
        report: called with summaries, sources, the names to report, and options of `EstimeConfig`.
        names: its row of the table.
        layers: whether it reads several layers.
        cached: whether it shares the cache of the process.
        skips: whether an invalid pair is skipped and not an error.
        nothing: whether it can be called without pairs.
    """

    report: Report
    names: str
    layers: bool = False
    cached: bool = False
    skips: bool = False
    nothing: bool = True


Read = TypeVar("Read")


def read(names: Sequence[str], alarms: str | None, get: Callable[[str], Read]) -> dict[str, Read]:
    """Reported name -> what a toolkit has under its own name, which follows that of ``alarms``."""
    assert alarms is not None
    return {name: get(alarms.replace("alarms", name)) for name in names}


def number(value: Any) -> float:
    return math.nan if value is None else float(value)


def by_python(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    result, row = EstimeScorer(**options).score(summaries, sources), NAMES["python"]
    scope = {"result": result}
    values, means = {}, {}
    for name in names:
        measure, _, layer = name.partition("_layer")
        place = f'"{measure}"' + (f", {layer}" if layer else "")
        means[name] = eval(f"result.mean({place})", scope)
        values[name] = eval(f"result[{place}]", scope).tolist()
    if "layer" not in name:
        assert eval(row.value or "", scope).equal(result["alarms"])
    blank = len(eval(row.blank or "", scope))
    return Reported(values, means, blank, eval(row.signature or "", scope))


def by_columns(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    row = NAMES["columns"]
    columns = EstimeScorer(**options).map_batch(
        {"summary": summaries, "source": sources}, signature_column=row.signature
    )
    values = read(names, row.value, columns.__getitem__)
    blank = None if "layer" in names[0] else sum(columns[row.blank or ""])
    return Reported(values, {}, blank, next(iter(columns[row.signature or ""]), None))


def by_ray(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    """What an actor runs; `tests.integrations.test_ray` has a cluster."""
    from estime_metric.integrations.ray import BatchScorer

    row = NAMES["columns"]
    batch = {"summary": summaries, "source": sources}
    arrays = {name: np.array(texts, dtype=object) for name, texts in batch.items()}
    scored = BatchScorer(**options)(arrays)
    values = read(names, row.value, lambda key: scored[key].tolist())
    blank = None if "layer" in names[0] else sum(scored[row.blank or ""])
    return Reported(values, {}, blank)


def by_json(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    row = NAMES["json"]
    with TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        pairs = [
            {"source": source, "summary": summary}
            for summary, source in zip(summaries, sources, strict=True)
        ]
        table = write_jsonl(folder / "pairs.jsonl", pairs)
        (folder / "config.json").write_text(
            json.dumps({**options, "measures": [*options.get("measures", ())]})
        )
        out = folder / "scores.jsonl"
        command = ["score", table, "--json", "-q", "-o", out, "--config", folder / "config.json"]
        printed = json.loads(run_command(*command, status=None).stdout)
        meta = json.loads((folder / "scores.jsonl.meta.json").read_text())
        rows = json_rows(out)
    means = read(names, row.mean, lambda key: number(reduce(getitem, key.split("."), printed)))
    assert meta["measures"] == printed["measures"]
    assert meta[row.blank] == printed[row.blank]
    assert meta["signature"] == printed[row.signature]
    values = {name: [number(line[name]) for line in rows] for name in names}
    return Reported(values, means, printed[row.blank], printed[row.signature])


def by_evaluate(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    pytest.importorskip("evaluate")
    from estime_metric.integrations.evaluate import Estime

    metric = Estime(**options)
    return of_evaluate(metric.compute(predictions=summaries, sources=sources), names)


def of_evaluate(scores: Any, names: Sequence[str]) -> Reported:
    row = NAMES["hugging"]
    means = read(names, row.mean, scores.__getitem__)
    lists = read(names, row.value, scores.get)
    values = {name: listed for name, listed in lists.items() if listed is not None}
    assert scores[next(name for name in scores if name.startswith("estime"))] == pytest.approx(
        means[next(name for name in names if name.startswith("alarms"))], nan_ok=True
    )
    blank = None if "layer" in names[0] else scores[row.blank]
    return Reported(values, means, blank, scores[row.signature])


def by_torchmetrics(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    pytest.importorskip("torchmetrics")
    from estime_metric import ESTIME

    mean, each = (
        ESTIME(return_dict=True, reduction=reduction, **options) for reduction in ("mean", None)
    )
    for metric in (mean, each):
        for start in range(0, max(1, len(summaries)), 3):  # in batches of different sizes
            metric.update(summaries[start : start + 3], sources=sources[start : start + 3])
    return of_torchmetrics(mean, each, names)


def of_torchmetrics(mean: Any, each: Any, names: Sequence[str]) -> Reported:
    row, means, values = NAMES["torchmetrics"], mean.compute(), each.compute()
    return Reported(
        read(names, row.mean, lambda key: values[key].tolist()),
        read(names, row.mean, lambda key: float(means[key])),
        None if "layer" in names[0] else float(means[row.blank]),
        eval(row.signature or "", {"metric": mean}),
    )


def by_inspect(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    pytest.importorskip("inspect_ai")
    from estime_metric.integrations.inspect import estime

    row, score = NAMES["inspect"], estime(source="article", explain=False, **options)

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
        read(names, row.value, lambda key: [score.value[key] for score in scores]),
        {},
        sum(score.value[row.blank] for score in scores),
        scores[0].metadata[row.signature] if scores else None,
    )


def by_lm_eval(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    from estime_metric.integrations.lm_eval import EstimeTask

    row, task = NAMES["lm"], EstimeTask("article", **options)
    docs = [{"article": source} for source in sources]
    scored = task.score([[summary] for summary in summaries], docs)
    assert json.loads(json.dumps(scored, allow_nan=False)) == scored
    results = [
        task.process_results(doc, [scores]) for doc, scores in zip(docs, scored, strict=True)
    ]
    return Reported(
        read(names, row.value, lambda key: [result[key] for result in results]),
        {},
        sum(result[row.blank or ""] for result in results),
        scored[0][row.signature] if scored else None,
    )


def by_mlflow(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    pytest.importorskip("mlflow")
    from estime_metric.integrations import mlflow

    row, scorer = NAMES["mlflow"], mlflow.estime_scorer("article", explain=False, **options)
    feedbacks = [
        {
            feedback.name: feedback
            for feedback in scorer(inputs={"article": source}, outputs=summary)
        }
        for summary, source in zip(summaries, sources, strict=True)
    ]
    assert row.signature == mlflow.SIGNATURE_TAG

    def values(key: str) -> list[float]:
        """An undefined value is not logged; MLflow adds the end of the name."""
        own = key.removesuffix("/value")
        return [of_row[own].value if own in of_row else math.nan for of_row in feedbacks]

    blank = row.blank or ""
    return Reported(
        read(names, row.value, values),
        {},
        sum(of_row[blank].value for of_row in feedbacks),
        feedbacks[0][blank].metadata["signature"] if feedbacks else None,
    )


def by_trl(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    from estime_metric.integrations.trl import estime_reward

    options.pop("measures", None)  # it has its own
    row, logged = NAMES["trl"], dict[str, float]()
    reward = estime_reward("article", copy_penalty=0, **options)
    rewards = reward(completions=summaries, article=sources, log_metric=logged.__setitem__)
    means = read(names, row.mean, logged.get)
    return Reported(
        {"inconsistency": [-value for value in rewards]},
        {name: mean for name, mean in means.items() if mean is not None},
        logged.get(row.blank or "") if summaries else 0,
        eval(row.signature or "", {"reward": reward}),
    )


class Characters:
    """A tokenizer whose ids are characters, so that decoding loses nothing."""

    pad_token_id = 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Ids as the Trainer gathers them: -100 behind each."""
        width = max(map(len, texts), default=0) + 2
        rows = [[*map(ord, text), *[-100] * (width - len(text))] for text in texts]
        return np.array(rows, dtype=int).reshape(len(texts), width)

    def batch_decode(self, ids: np.ndarray, skip_special_tokens: bool) -> list[str]:
        return ["".join(chr(number) for number in row if number) for row in ids]


def by_trainer(
    summaries: list[str], sources: list[str], names: Sequence[str], **options: Any
) -> Reported:
    from transformers import EvalPrediction

    from estime_metric.integrations.trainer import estime_compute_metrics

    row, tokenizer = NAMES["transformers"], Characters()
    compute_metrics = estime_compute_metrics(tokenizer, sources, **options)  # type: ignore[arg-type]
    scores = compute_metrics(EvalPrediction(tokenizer.encode(summaries), None))
    logged = {f"eval_{name}": value for name, value in scores.items()}  # as the Trainer does
    return Reported(
        {},
        read(names, row.mean, logged.__getitem__),
        logged[row.blank or ""],
        eval(row.signature or "", {"compute_metrics": compute_metrics}),
    )


TOOLKITS = {
    "python": Toolkit(by_python, "python", layers=True),
    "columns": Toolkit(by_columns, "columns", layers=True),
    "ray": Toolkit(by_ray, "columns", layers=True),
    "json": Toolkit(by_json, "json", layers=True, skips=True, nothing=False),
    "evaluate": Toolkit(by_evaluate, "hugging", layers=True, cached=True),
    "torchmetrics": Toolkit(by_torchmetrics, "torchmetrics", layers=True, cached=True),
    "inspect": Toolkit(by_inspect, "inspect", cached=True),
    "lm_eval": Toolkit(by_lm_eval, "lm", cached=True),
    "mlflow": Toolkit(by_mlflow, "mlflow", cached=True),
    "trl": Toolkit(by_trl, "trl", cached=True),
    "trainer": Toolkit(by_trainer, "transformers", cached=True),
}


def evaluate_in_a_process(
    rank: int, pairs: Sequence[tuple[str, str]], folder: Path, names: Sequence[str], model: str
) -> Reported | None:
    """What one of two processes reports; only the first one reports and needs an encoder."""
    from estime_metric.integrations.evaluate import Estime

    own = {"cache_dir": str(folder), "experiment_id": "shared", "timeout": 300}
    model = model if rank == 0 else "nobody/no-such-encoder"
    metric = Estime(model=model, num_process=2, process_id=rank, **own)
    for summary, source in pairs:
        metric.add(prediction=summary, sources=source)
    scores = metric.compute()
    return None if scores is None else of_evaluate(scores, names)


def torchmetrics_in_a_process(
    rank: int, pairs: Sequence[tuple[str, str]], folder: Path, names: Sequence[str], model: str
) -> Reported | None:
    """What one of two processes reports: all pairs, of which it scores its own."""
    from estime_metric import ESTIME

    with process_group(rank, folder):
        mean, each = (
            ESTIME(return_dict=True, reduction=reduction, model=model)
            for reduction in ("mean", None)
        )
        for summary, source in pairs:
            mean.update([summary], sources=[source])
            each.update([summary], sources=[source])
        return of_torchmetrics(mean, each, names)


#: Toolkits that score one set of pairs in two processes.
IN_TWO_PROCESSES = {"evaluate": evaluate_in_a_process, "torchmetrics": torchmetrics_in_a_process}
