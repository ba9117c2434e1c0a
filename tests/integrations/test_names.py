"""The table of names in docs/measures.md is what the toolkits return."""

from __future__ import annotations

import asyncio
import json
import re
from functools import reduce
from operator import getitem
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import transformers

from estime_metric import EstimeScorer
from estime_metric.cli.options import parse_layers
from estime_metric.measures import MEASURES, measure_of, reported_name
from tests.command import run_command, write_jsonl

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measures.md"
MEAN, EACH, LAYER, BLANK, SIGNATURE = range(1, 6)  # the columns of the table

SUMMARIES = ["The dog sat on the mat.", ""]
SOURCES = ["The dog slept in the garden. The cat sat on the mat."] * 2
MODEL = "embedded-small"
LAYERS = (1, 2)

pytestmark = pytest.mark.filterwarnings("ignore")  # what these packages warn of when imported


def table() -> dict[str, list[str | None]]:
    """First word of the toolkit -> the first piece of code in each cell, at layer 2 for 12."""
    rows = {}
    _, section = PAGE.read_text(encoding="utf-8").split("## Names in each toolkit\n")
    for line in section.partition("\n## ")[0].splitlines():
        if line.startswith("| ") and not line.startswith("| toolkit"):
            toolkit, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            found = [None, *(re.search("`(.+?)`", cell) for cell in cells)]
            codes = [code and code[1].replace("12", "2") for code in found]
            rows[re.findall(r"\w+", toolkit)[0].lower()] = codes
    return rows


TABLE = table()


def test_every_toolkit_has_its_row_and_its_test() -> None:
    assert set(TABLE) == {
        name.removeprefix("test_of_") for name in globals() if name.startswith("test_of_")
    }


def test_every_logger_accepts_a_name_with_a_layer(tmp_path: Path) -> None:
    names = [reported_name(measure, 12, (12, 21)) for measure in MEASURES]
    assert [measure_of(name) for name in names] == list(MEASURES)
    for name in names:  # what Weights & Biases asks for
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    mlflow = pytest.importorskip("mlflow")
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/runs.db")
    run = client.create_run(client.create_experiment("names")).info.run_id
    for name in names:
        client.log_metric(run, name, 1.0)
    assert set(client.get_run(run).data.metrics) == set(names)
    with pytest.raises(mlflow.exceptions.MlflowException, match="name"):
        client.log_metric(run, "alarms@12", 1.0)  # why the layer does not follow an "@"


def test_of_python() -> None:
    one = EstimeScorer(model=MODEL).score(SUMMARIES, SOURCES)
    several = EstimeScorer(model=MODEL, layers=LAYERS).score(SUMMARIES, SOURCES)
    row = TABLE["python"]
    assert eval(row[EACH], {"result": one}).tolist() == [1, 0]
    assert eval(row[MEAN], {"result": one}) == 0.5
    assert eval(row[LAYER], {"result": several}) >= 0
    assert eval(row[BLANK], {"result": one}) == [1]
    assert eval(row[SIGNATURE], {"result": one}).startswith("ESTIME|")


def test_of_columns() -> None:
    row = TABLE["columns"]
    batch = {"source": SOURCES, "summary": SUMMARIES}
    columns = EstimeScorer(model=MODEL).map_batch(batch, signature_column=row[SIGNATURE])
    assert {row[EACH], row[BLANK], row[SIGNATURE]} <= set(columns)
    several = EstimeScorer(model=MODEL, layers=LAYERS).map_batch(batch)
    assert "alarms_layer2" in several
    assert "`alarms_layer12`" in PAGE.read_text(encoding="utf-8")


def test_of_json(tmp_path: Path) -> None:
    row = TABLE["json"]
    source, *_ = SOURCES
    pairs = [{"source": source, "summary": summary} for summary in SUMMARIES]
    table = write_jsonl(tmp_path / "pairs.jsonl", pairs)
    out = tmp_path / "scores.jsonl"
    for layers, path in (("1", row[MEAN]), ("1,2", row[LAYER])):
        options = ["-m", MODEL, "-l", layers, "-q", "--overwrite"]
        printed = json.loads(run_command("score", table, "--json", "-o", out, *options).stdout)
        meta = json.loads((tmp_path / "scores.jsonl.meta.json").read_text())
        result = EstimeScorer(model=MODEL, layers=parse_layers(layers)).score(SUMMARIES, SOURCES)
        expected = result.mean("alarms", int(layers[-1]))
        for found in (printed, meta, result.to_dict()):
            value = reduce(getitem, path.split("."), found)
            assert value == pytest.approx(expected, abs=1e-6)
            assert found[row[SIGNATURE]] == result.signature
        assert printed[row[BLANK]] == meta[row[BLANK]] == 1


def test_of_hugging() -> None:
    pytest.importorskip("evaluate")
    from estime_metric.integrations.evaluate import Estime

    row = TABLE["hugging"]
    texts = {"predictions": SUMMARIES, "sources": SOURCES}
    scores = Estime(model=MODEL).compute(**texts)
    assert scores[row[MEAN]] == np.mean(scores[row[EACH]]) == scores["estime"]
    assert scores[row[BLANK]] == 1
    assert scores[row[SIGNATURE]].startswith("ESTIME|")
    several = Estime(model=MODEL, layers=LAYERS).compute(**texts)
    assert several[row[LAYER]] == np.mean(several[f"{row[LAYER]}_scores"])


def test_of_torchmetrics() -> None:
    pytest.importorskip("torchmetrics")
    from estime_metric import ESTIME

    row = TABLE["torchmetrics"]
    found = {}
    for layers, reduction in ((None, "mean"), (None, None), (LAYERS, "mean")):
        metric = ESTIME(model=MODEL, layers=layers, return_dict=True, reduction=reduction)
        metric.update(SUMMARIES, sources=SOURCES)
        found[layers, reduction] = metric.compute()
    assert found[None, "mean"][row[MEAN]] == found[None, None][row[EACH]].mean()
    assert found[None, "mean"][row[BLANK]] == 1
    assert row[LAYER] in found[LAYERS, "mean"]
    assert eval(row[SIGNATURE], {"metric": metric}).startswith("ESTIME|")


def test_of_inspect() -> None:
    pytest.importorskip("inspect_ai")
    from estime_metric.integrations.inspect import estime

    row = TABLE["inspect"]
    output = SimpleNamespace(completion=SUMMARIES[0])
    state = SimpleNamespace(output=output, metadata={"article": SOURCES[0]}, sample_id=0)
    score = asyncio.run(estime(source="article", model=MODEL)(state, None))
    # Inspect gives the mean of a value the name of the value.
    assert {row[MEAN], row[EACH], row[BLANK]} <= set(score.value)
    assert score.metadata[row[SIGNATURE]].startswith("ESTIME|")


def test_of_lm() -> None:
    from estime_metric.integrations.lm_eval import EstimeTask

    row = TABLE["lm"]
    task = EstimeTask("article", model=MODEL)
    doc = {"article": SOURCES[0]}
    scored = task.score([SUMMARIES[0]], [doc])
    assert {row[MEAN], row[EACH], row[BLANK]} <= set(task.process_results(doc, scored))
    assert scored[0][row[SIGNATURE]].startswith("ESTIME|")


def test_of_mlflow() -> None:
    pytest.importorskip("mlflow")
    from estime_metric.integrations import mlflow

    row = TABLE["mlflow"]
    scorer = mlflow.estime_scorer("article", model=MODEL)
    feedbacks = scorer(inputs={"article": SOURCES[0]}, outputs=SUMMARIES[0])
    names = {feedback.name for feedback in feedbacks}
    # MLflow adds the rest: see the page on it, which is run.
    assert {row[MEAN].removesuffix("/mean"), row[EACH].removesuffix("/value")} <= names
    assert row[BLANK] in names
    assert row[SIGNATURE] == mlflow.SIGNATURE_TAG


def test_of_trl() -> None:
    from estime_metric.integrations.trl import estime_reward

    row = TABLE["trl"]
    logged: dict[str, float] = {}
    reward = estime_reward("article", model=MODEL)
    reward(completions=SUMMARIES, article=SOURCES, log_metric=logged.__setitem__)
    assert (logged[row[MEAN]], logged[row[BLANK]]) == (0.5, 1)
    assert eval(row[SIGNATURE], {"reward": reward}).startswith("ESTIME|")


def test_of_transformers() -> None:
    from estime_metric.integrations.trainer import estime_compute_metrics

    row = TABLE["transformers"]
    tokenizer = SimpleNamespace(pad_token_id=0, batch_decode=lambda *_, **__: SUMMARIES)
    compute_metrics = estime_compute_metrics(tokenizer, SOURCES, model=MODEL)
    ids = np.ones((2, 3), dtype=int)
    found = compute_metrics(transformers.EvalPrediction(ids, None))
    names = {f"eval_{name}": value for name, value in found.items()}  # as the Trainer does
    assert (names[row[MEAN]], names[row[BLANK]]) == (0.5, 1)
    assert eval(row[SIGNATURE], {"compute_metrics": compute_metrics}).startswith("ESTIME|")
