"""Equal values, blank summaries among them, and one signature in every toolkit that is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import transformers

from estime_metric import EstimeConfig, EstimeScorer, estime

#: `inconsistency` of each summary, the number of blank ones, the signature if the toolkit shows
#: one.
Found = tuple[list[float], float, str | None]


def by_inspect(summaries: list[str], sources: list[str], model: str) -> Found:
    pytest.importorskip("inspect_ai")
    from estime_metric.integrations.inspect import estime as scorer

    score = scorer(source="article", explain=False, model=model)

    async def all_at_once() -> list:
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
    values, blank = zip(
        *((score.value["inconsistency"], score.value["blank"]) for score in scores), strict=True
    )
    return list(values), sum(blank), scores[0].metadata["signature"]


def by_lm_eval(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.lm_eval import EstimeTask

    task = EstimeTask("article", model=model)
    docs = [{"article": source} for source in sources]
    scored = task.score([[summary] for summary in summaries], docs)
    found = [task.process_results(doc, [scores]) for doc, scores in zip(docs, scored, strict=True)]
    return (
        [one["inconsistency"] for one in found],
        sum(one["blank"] for one in found),
        scored[0]["signature"],
    )


def by_mlflow(summaries: list[str], sources: list[str], model: str) -> Found:
    pytest.importorskip("mlflow")
    from estime_metric.integrations.mlflow import estime_scorer

    scorer = estime_scorer("article", measures="inconsistency", explain=False, model=model)
    feedbacks = [
        scorer(inputs={"article": source}, outputs=summary)
        for summary, source in zip(summaries, sources, strict=True)
    ]
    assert [one.name for one in feedbacks[0]] == ["estime/inconsistency", "estime/blank"]
    values, blank = zip(*([one.value for one in row] for row in feedbacks), strict=True)
    return list(values), sum(blank), feedbacks[0][0].metadata["signature"]


def by_trl(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.trl import estime_reward

    logged: dict[str, float] = {}
    reward = estime_reward("article", copy_penalty=0, model=model)
    rewards = reward(completions=summaries, article=sources, log_metric=logged.__setitem__)
    return [-one for one in rewards], logged["estime/blank"], reward.signature


def by_trainer(summaries: list[str], sources: list[str], model: str) -> Found:
    from estime_metric.integrations.trainer import estime_compute_metrics

    class Characters:
        """A tokenizer whose ids are characters, so that decoding loses nothing."""

        pad_token_id = 0

        def batch_decode(self, ids: np.ndarray, skip_special_tokens: bool) -> list[str]:
            return ["".join(chr(number) for number in row if number) for row in ids]

    scorer = EstimeScorer(model=model)
    found = []
    for summary, source in zip(summaries, sources, strict=True):
        compute_metrics = estime_compute_metrics(Characters(), [source], scorer=scorer)
        ids = np.array([[ord(character) for character in summary] + [-100]])
        found.append(compute_metrics(transformers.EvalPrediction(ids, None)))
    return (
        [one["inconsistency"] for one in found],
        sum(one["blank"] for one in found),
        compute_metrics.signature,
    )


def by_evaluate(summaries: list[str], sources: list[str], model: str) -> Found:
    pytest.importorskip("evaluate")
    from estime_metric.integrations.evaluate import Estime

    scores = Estime(model=model).compute(
        predictions=summaries, sources=sources, measures="inconsistency"
    )
    return scores["inconsistency_scores"], scores["blank"], scores["signature"]


def by_torchmetrics(summaries: list[str], sources: list[str], model: str) -> Found:
    pytest.importorskip("torchmetrics")
    from estime_metric import ESTIME

    each = ESTIME(model=model, measure="inconsistency", reduction=None)
    each.update(summaries, sources=sources)
    whole = ESTIME(model=model, return_dict=True)
    whole.update(summaries, sources=sources)
    return each.compute().tolist(), float(whole.compute()["blank"]), each.signature


def by_datasets(summaries: list[str], sources: list[str], model: str) -> Found:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"summary": summaries, "source": sources})
    columns = data.map(
        EstimeScorer(model=model).map_batch, batched=True, batch_size=5, load_from_cache_file=False
    )
    return list(columns["inconsistency"]), sum(columns["blank"]), None


def by_ray(summaries: list[str], sources: list[str], model: str) -> Found:
    """What an actor runs; `tests.integrations.test_ray` has a cluster."""
    pyarrow = pytest.importorskip("pyarrow")
    from estime_metric.integrations.ray import _BlockScorer

    block = _BlockScorer(EstimeConfig(model=model), "source", "summary", "", 5)
    tables = list(block(pyarrow.table({"summary": summaries, "source": sources})))
    values, blank = (
        pyarrow.concat_tables(tables)[name].to_pylist() for name in ("inconsistency", "blank")
    )
    return values, sum(blank), None


EVERY = [
    by_inspect,
    by_lm_eval,
    by_mlflow,
    by_trl,
    by_trainer,
    by_evaluate,
    by_torchmetrics,
    by_datasets,
    by_ray,
]


@pytest.mark.parametrize("score", EVERY)
@pytest.mark.filterwarnings("ignore")  # what these packages warn of when they are imported
def test_equal_values(
    score: Callable[[list[str], list[str], str], Found],
    bert_folder: str,
    pairs: list[tuple[str, str]],
) -> None:
    summaries, sources = map(list, zip(*pairs, ("", pairs[0][1]), (" ", pairs[1][1]), strict=True))
    expected = estime(summaries, sources, model=bert_folder)
    values, blank, signature = score(summaries, sources, bert_folder)
    assert values == pytest.approx(expected["inconsistency"].tolist(), abs=1e-6)
    assert len(set(values)) > 3
    assert values[-2:] == [1, 1]
    assert blank == 2
    assert signature in (None, expected.signature)
