"""ESTIME as a scorer of Inspect: scores, metrics, errors, and what its page shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import list_eval_logs, read_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from estime_metric import EstimeScorer  # noqa: E402
from estime_metric.integrations.inspect import estime  # noqa: E402
from estime_metric.measures import REPORTED  # noqa: E402
from tests.command import run_with_forks  # noqa: E402
from tests.integrations.conftest import Pairs, unzip  # noqa: E402
from tests.integrations.harnesses.pages import run_section  # noqa: E402

# Inspect leaves streams and sockets to the garbage collector and calls deprecated functions of its
# own.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def run(folder: Path, pairs: Pairs, scorer: Any) -> Any:
    """The log, read back, of a model that answers with the summaries, sample by sample."""
    samples, summaries = [], {}
    for number, (summary, source) in enumerate(pairs):
        text = source + str(number)
        summaries[text] = summary
        samples.append(Sample(input=text, metadata={"article": source}, id=number))

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", summaries[messages[-1].text])
        output.usage = ModelUsage(total_tokens=2)  # else it is counted with a download
        return output

    task = inspect_ai.Task(dataset=samples, scorer=scorer)
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    inspect_ai.eval(task, model=model, log_dir=str(folder), display="none")
    return read_eval_log(list_eval_logs(str(folder))[0])


def test_scores_metrics_and_explanations(bert_folder: str, pairs: Pairs, tmp_path: Path) -> None:
    pairs = [*pairs, ("☃☃☃", pairs[0][1]), ("", pairs[0][1])]
    log = run(
        tmp_path, pairs, estime("article", "alarms,alarm_rate", model=bert_folder, cache=None)
    )
    scorer = EstimeScorer(model=bert_folder)
    result = scorer.score(*unzip(pairs))
    logged = {score.name: score for score in log.results.scores}
    assert {*logged} == {"alarms", "alarm_rate", "blank"}
    for name in ("alarms", "alarm_rate"):
        mean = pytest.approx(float(result[name].nanmean()))
        assert logged[name].metrics["mean"].value == mean
        assert logged[name].metrics["stderr"].value > 0
    assert logged["alarm_rate"].unscored_samples == 2
    for sample in log.samples:
        score = sample.scores["estime"]
        explanation = scorer.explain(*pairs[sample.id])
        assert score.answer == explanation.prediction
        assert score.explanation == str(explanation)
        assert score.metadata["words"] == [word.to_dict() for word in explanation.surest_words()]


def test_each_summary_is_encoded_once_and_a_missing_field_is_named(
    bert_folder: str, pairs: Pairs, tmp_path: Path, scored: list[int]
) -> None:
    logged = []
    for explain in (True, False):
        scorer = estime("article", explain=explain, model=bert_folder)
        log = run(tmp_path / str(explain), pairs[:3], scorer)
        scores = [sample.scores["estime"] for sample in log.samples]
        assert [score.explanation is not None for score in scores] == [explain] * 3
        logged.append({score.answer: score.value for score in scores})
    assert scored == [1] * 3  # without explanations: an explanation has the values
    assert logged[0].keys() == logged[1].keys()
    for summary, values in logged[0].items():
        assert values == pytest.approx(logged[1][summary], rel=1e-5, abs=1e-5, nan_ok=True)
    log = run(tmp_path / "field", pairs[:1], estime("text", model=bert_folder))
    assert log.status == "error"
    assert "metadata of sample 0 to have the field 'text'" in log.error.message


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_is_forked_when_an_event_loop_ends_scores_too() -> None:
    """Some hung when samples were scored in the loop's own threads, which end with it."""
    script = """
        import asyncio, torch
        from types import SimpleNamespace as Part
        from estime_metric.integrations.inspect import estime

        torch.set_num_threads(2)
        score = estime(source="article", explain=False, model="embedded-small", device="cpu")
        source = "Anna saw the cat on the mat while the dog slept in the garden of the old house. " * 2
        for number in range(10):
            output = Part(completion=source + str(number))
            state = Part(output=output, metadata={"article": source}, sample_id=number)
            ask = lambda: asyncio.run(score(state, None))
            ask()
            assert in_child(ask) == 0
    """
    assert run_with_forks(script) == []


def test_the_page(tmp_path: Path) -> None:
    evaluated, read, _ = run_section("harnesses.md", "Inspect", tmp_path)
    assert "stderr" in evaluated
    assert "ESTIME|model:embedded@" in read
    log = read_eval_log(list_eval_logs(str(tmp_path / "logs"))[0])
    names = {*REPORTED, "alarm_rate", "coverage"}
    assert {score.name for score in log.results.scores} == names
    for sample in log.samples:
        first, again = sample.scores.values()
        expected = {name: first.metadata[name] for name in ("alarm_rate", "coverage", "blank")}
        assert again.value == expected
