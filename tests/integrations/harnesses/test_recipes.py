"""The recipes of docs/examples, and what the pages do with them: they log what `EstimeScorer` gives."""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import partialmethod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers

from docs.examples import lightning_seq2seq as example
from docs.examples.trainer_metrics import estime_compute_metrics, estime_scorer
from estime_metric import EstimeResult, EstimeScorer, embedded
from estime_metric.measures import REPORTED
from tests.command import json_rows
from tests.families import byte_level
from tests.integrations.conftest import Pairs, unzip
from tests.integrations.harnesses.pages import run_section, section_of
from tests.pages import ROOT, blocks

#: Why tests are skipped if TensorBoard is missing.
UNSEEN = (
    "without tensorboard, nobody sees which summaries the recipe and the example show as the worst"
)


def test_the_trainers_padding_is_no_text(bert_folder: str, pairs: Pairs) -> None:
    """Also of a tokenizer without a token for padding, whose token 0 is "!"."""
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(256))
    assert tokenizer.decode([0]) == "!"

    def padded(texts: list[str]) -> np.ndarray:
        """Token ids as the Trainer gathers them: -100 behind each."""
        rows = [tokenizer(text)["input_ids"] for text in texts]
        width = max(map(len, rows)) + 2
        return np.array([row + [-100] * (width - len(row)) for row in rows])

    summaries, sources = unzip([*pairs[:5], ("", pairs[0][1])])
    scorer = estime_scorer(summaries, sources, model=bert_folder)
    result = scorer.score(summaries, sources)
    assert scorer.config.min_tokens == int(result.mean("tokens") / 2) > 0
    outputs = transformers.EvalPrediction(padded(summaries), None, inputs=padded(sources))
    for texts in (sources, None):  # None: the inputs are decoded
        logged = estime_compute_metrics(tokenizer, scorer, texts)(outputs)
        assert {"inconsistency", "copied_density", "tokens"} <= {*logged}
        means = {name: result.mean(name) for name in logged}
        assert logged == pytest.approx(means, nan_ok=True)


@pytest.mark.filterwarnings("ignore")  # Lightning and torch warn of each other
def test_the_worst_of_an_epoch_are_shown_in_a_loop(
    training_device: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of the page up to these, in order; the summaries are the sources' first sentences."""
    pytest.importorskip("tensorboard", reason=UNSEEN)
    page = blocks(ROOT / "docs" / "training.md")
    (last,) = (number for number, block in enumerate(page) if "SummaryWriter" in block.code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(embedded.PATHS, "embedded", embedded.SMALL)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("\n".join(block.code for block in page[: last + 1]), names)

    sources = [
        "Anna bought the red boat. Peter sold the old house.",
        "The cat sat on the mat. It slept.",
    ]
    summaries = [source.split(". ")[0] for source in sources]
    explanations = EstimeScorer(model="embedded-small", min_tokens=2).explain_pairs(
        summaries, sources
    )
    marked = [
        f"{explanation.inconsistency:.2f}: {summary}"
        for summary, explanation in zip(summaries, explanations, strict=True)
    ]
    shown = texts_in(tmp_path / "runs", "val/worst")
    assert [*shown] == [0, 1]
    for text in shown.values():
        assert sorted(text.replace("**", "").split("\n\n")) == sorted(marked)

    explanation = EstimeScorer().explain("Maria bought the\n\nold car.", sources[0])
    expected = f"{explanation.inconsistency:.2f}: **Maria** bought the **old** **car**."
    assert names["as_markdown"](explanation) == expected
    assert example.as_markdown(explanation) == expected


@pytest.mark.filterwarnings("ignore")
def test_the_example_of_lightning_shows_the_worst_of_its_epochs(
    training_device: None, bert_folder: str, tmp_path: Path
) -> None:
    pytest.importorskip("tensorboard", reason=UNSEEN)
    options = "--tensorboard --training 8 --validation 5 --epochs 2 --batch 2"
    outcome = example.main([*options.split(), "--encoder", bert_folder, "--folder", str(tmp_path)])
    shown = texts_in(tmp_path / "version_0", "val/worst")
    curve = steps_of(tmp_path / "version_0", "val/inconsistency")
    assert [*shown] == curve == [3, 7]
    worst = [float(line.split(":")[0]) for line in shown[7].split("\n\n")]
    assert worst == sorted(worst, reverse=True)
    assert len(worst) == 3
    assert worst[0] >= outcome["val/inconsistency"] - 0.005


def texts_in(folder: Path, tag: str) -> dict[int, str]:
    """Step -> the text that TensorBoard shows."""
    return {
        event.step: event.tensor_proto.string_val[0].decode()
        for event in events_in(folder).Tensors(f"{tag}/text_summary")
    }


def steps_of(folder: Path, tag: str) -> list[int]:
    """The steps of a curve."""
    return [event.step for event in events_in(folder).Scalars(tag)]


def events_in(folder: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(str(folder)).Reload()


@pytest.mark.slow
def test_the_page_of_the_trainer(tmp_path: Path) -> None:
    (printed,) = run_section("training.md", "Trainer", tmp_path)
    best, signature = printed.splitlines()[-1].split(" ", 1)
    assert 0 <= float(best) <= 1
    assert "|min_tokens:3|" in signature


def without_its_own_tasks() -> None:
    """Has the harness look through its 14,000 files of tasks only if it is asked to."""
    from lm_eval.tasks import TaskManager

    TaskManager.__init__ = partialmethod(TaskManager.__init__, include_defaults=False)


def test_the_page_of_lm_eval(tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    home = str(tmp_path / "hf")
    run_section(
        "harnesses.md", "lm-evaluation-harness", tmp_path, without_its_own_tasks, HF_HOME=home
    )
    (file,) = (tmp_path / "results").rglob("results_*.json")
    results = json.loads(file.read_text(encoding="utf-8"))["results"]["summaries"]
    articles = [document["article"] for document in json_rows(tmp_path / "documents.jsonl")]
    result = EstimeScorer(model="embedded-small").score(["lol"] * len(articles), articles)
    assert results["blank,estime"] == 0
    for name in REPORTED:
        assert results[f"{name},estime"] == pytest.approx(result.mean(name), nan_ok=True)
    task = (ROOT / "docs" / "examples" / "lm_eval_task.yaml").read_text(encoding="utf-8")
    aggregations = dict(re.findall(r"metric: (\w+)\n +aggregation: (\w+)", task))
    assert (aggregations["inconsistency"], aggregations["new_names"]) == ("mean", "nanmean")
    (samples,) = (tmp_path / "results").rglob("samples_*.jsonl")
    assert _signature(result) in samples.read_text(encoding="utf-8")


def without_other_clients() -> None:
    """MLflow imports Lightning and a client of Databricks, if they are there, for what the page
    does not do.
    """
    sys.modules.update({"pytorch_lightning": None, "databricks.sdk": None})  # type: ignore[dict-item]


def test_the_page_of_mlflow(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    (printed,) = run_section(
        "harnesses.md", "MLflow", tmp_path, without_other_clients, MLFLOW_DISABLE_TELEMETRY="true"
    )
    article, *summaries = re.findall(
        r"(?m)^(?:article =|   ) \"(.+)\"", section_of("harnesses.md", "MLflow")
    )
    scorer = EstimeScorer(model="embedded-small")
    result = scorer.score(summaries, [article] * 2)
    for name in REPORTED:
        (mean,) = re.findall(rf"'estime/{name}/mean': ([\d.]+)", printed)
        assert float(mean) == pytest.approx(result.mean(name))
    for summary in summaries:
        shown = str(scorer.explain(summary, article)).replace(result.signature, _signature(result))
        assert shown in printed


def test_the_page_of_deepeval(tmp_path: Path) -> None:
    pytest.importorskip("deepeval")
    (printed,) = run_section("harnesses.md", "DeepEval", tmp_path, DEEPEVAL_TELEMETRY_OPT_OUT="1")
    passages, answers = _lists_of("DeepEval")
    explanations = EstimeScorer(model="embedded-small").explain_pairs(answers, [passages] * 2)
    for explanation, passes in zip(explanations, (True, False), strict=True):
        reason = str(explanation).replace("embedded-small", "embedded")
        (score,) = re.findall(rf"(?m)^([\d.]+) {passes} {re.escape(reason)}$", printed)
        assert float(score) == pytest.approx(1 - explanation.inconsistency)


def test_the_page_of_ragas(tmp_path: Path) -> None:
    pytest.importorskip("ragas")
    (printed,) = run_section("harnesses.md", "ragas", tmp_path, RAGAS_DO_NOT_TRACK="true")
    columns = json.loads(printed.splitlines()[-1])
    passages, answers = _lists_of("ragas")
    result = EstimeScorer(model="embedded-small").score(answers, [passages] * 2)
    assert {*columns} == {"inconsistency", "new_names", "new_numbers"}
    for name, values in columns.items():
        assert [*values.values()] == pytest.approx(result.values(name).tolist(), abs=1e-6)


@pytest.mark.filterwarnings("ignore")  # ragas warns of itself and of LangChain
def test_an_error_of_the_ragas_metric_is_raised_or_becomes_nan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ragas")
    monkeypatch.setenv("RAGAS_DO_NOT_TRACK", "true")
    from ragas import EvaluationDataset, evaluate

    from docs.examples.ragas_metric import Estime

    row = {"user_input": "Why?", "retrieved_contexts": ["..."], "response": "It was closed."}
    dataset = EvaluationDataset.from_list([row])
    with pytest.raises(ValueError, match="sources"):
        evaluate(dataset, metrics=[Estime()], raise_exceptions=True, show_progress=False)
    values = evaluate(dataset, metrics=[Estime()], show_progress=False)["inconsistency"]
    assert np.isnan(values).tolist() == [True]


@pytest.mark.filterwarnings("ignore")  # LightEval's dependencies warn
def test_the_recipe_of_lighteval() -> None:
    pytest.importorskip("lighteval")
    from lighteval.metrics import apply_metric
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    from docs.examples.lighteval_metric import estime

    source = "Engineers had found rust in four of the twelve main beams of the bridge."
    summaries = ["Engineers had found rust in four beams.", "rust was found in nine beams."]
    document = Doc(query="", choices=[""], gold_index=0, specific={"source": source})
    responses = [ModelResponse(text=[summary]) for summary in summaries]
    rows = apply_metric(responses, [document] * 2, [estime])
    result = EstimeScorer().score_candidates(summaries, source)
    for name, mean in estime.get_corpus_aggregations().items():
        assert mean([row[name] for row in rows]) == pytest.approx(result.mean(name), abs=1e-6)
    assert {*rows[0]} == {*REPORTED}


def _lists_of(heading: str) -> tuple[list[str], list[str]]:
    """The passages and the answers in the block of a section of the page."""
    lists = re.findall(
        r"(?ms)^(?:passages|answers) = (\[.*?\])$", section_of("harnesses.md", heading)
    )
    passages, answers = map(ast.literal_eval, lists)
    return passages, answers


def _signature(result: EstimeResult) -> str:
    """That of the page, where the small encoder is called ``embedded``."""
    return result.signature.replace("embedded-small", "embedded")
