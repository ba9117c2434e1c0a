"""Equal alarms and one signature in every toolkit that is installed."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import transformers

from estime_metric import estime

Pairs = list[tuple[str, str]]
Found = tuple[list[float], str]


def by_inspect(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.inspect import estime as scorer

    score = scorer(source="article", explain=False, model=model)

    async def all_at_once() -> list:
        states = [
            SimpleNamespace(output=SimpleNamespace(completion=summary), metadata={"article": source}, sample_id=0)
            for summary, source in zip(summaries, sources, strict=True)
        ]
        return await asyncio.gather(*(score(state, None) for state in states))

    scores = asyncio.run(all_at_once())
    return [score.value for score in scores], scores[0].metadata["signature"]


def by_lm_eval(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.lm_eval import EstimeTask

    task = EstimeTask("article", model=model)
    docs = [{"article": source} for source in sources]
    scored = task.score([[summary] for summary in summaries], docs)
    alarms = [task.process_results(doc, [scores])["alarms"] for doc, scores in zip(docs, scored, strict=True)]
    return alarms, scored[0]["signature"]


def by_mlflow(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.mlflow import estime_scorer

    scorer = estime_scorer("article", report=["alarms"], explain=False, model=model)
    feedbacks = [
        scorer(inputs={"article": source}, outputs=summary)[0]
        for summary, source in zip(summaries, sources, strict=True)
    ]
    return [feedback.value for feedback in feedbacks], feedbacks[0].metadata["signature"]


def by_trl(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.trl import estime_reward

    reward = estime_reward("article", rate="alarm_rate", copy_penalty=0, model=model)
    rates = reward(completions=summaries, article=sources)
    overlap = estime(summaries, sources, model=model).values("overlap").tolist()
    return [-rate * units for rate, units in zip(rates, overlap, strict=True)], reward.signature


def by_trainer(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.trainer import estime_compute_metrics

    class Characters:
        """A tokenizer whose ids are characters, so that decoding loses nothing."""

        pad_token_id = 0

        def batch_decode(self, ids: np.ndarray, skip_special_tokens: bool) -> list[str]:
            return ["".join(chr(number) for number in row if number) for row in ids]

    alarms, compute_metrics = [], None
    for summary, source in zip(summaries, sources, strict=True):
        compute_metrics = estime_compute_metrics(Characters(), [source], model=model)
        ids = np.array([[ord(character) for character in summary] + [-100]])
        alarms.append(compute_metrics(transformers.EvalPrediction(ids, None))["alarms"])
    return alarms, compute_metrics.signature


def by_evaluate(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.evaluate import Estime

    scores = Estime(model=model).compute(predictions=summaries, sources=sources)
    return scores["alarms"], scores["signature"]


def by_torchmetrics(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.torchmetrics import ESTIME

    metric = ESTIME(model=model, reduction=None)
    metric.update(summaries, sources=sources)
    return metric.compute().tolist(), metric.signature


@pytest.mark.parametrize(
    ("package", "score"),
    [
        ("inspect_ai", by_inspect),
        ("lm_eval", by_lm_eval),
        ("mlflow", by_mlflow),
        ("trl", by_trl),
        ("transformers", by_trainer),
        ("evaluate", by_evaluate),
        ("torchmetrics", by_torchmetrics),
    ],
)
@pytest.mark.filterwarnings("ignore")  # what these packages warn of when they are imported
def test_equal_alarms(
    package: str, score: Callable[[list[str], list[str], str], Found], bert_folder: str, pairs: Pairs
) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    summaries, sources = map(list, zip(*pairs, strict=True))
    expected = estime(summaries, sources, model=bert_folder)
    alarms, signature = score(summaries, sources, bert_folder)
    assert alarms == pytest.approx(expected.values("alarms").tolist(), abs=1e-9)
    assert sum(alarms) > 0
    assert signature == expected.signature
