"""What all integrations with harnesses share: measures and explanation of a pair."""

from __future__ import annotations

import json

import pytest

from estime_metric import EstimeScorer
from estime_metric.integrations.judging import Judge, listed_alarms
from tests.integrations.conftest import Pairs, unzip


def test_measures_and_explanations_agree(bert_folder: str, pairs: Pairs) -> None:
    texts = unzip(pairs)
    judge = Judge(explain=True, model=bert_folder, measures="soft")
    judgements = judge(*texts)
    result = EstimeScorer(model=bert_folder, measures="soft").score(*texts)
    assert {judgement.signature for judgement in judgements} == {result.signature}
    for row, judgement in enumerate(judgements):
        assert set(judgement.measures) == set(result.measures)
        assert judgement.measures["alarms"] == float(result.values("alarms")[row]) == judgement.explanation.alarms
        assert len(listed_alarms(judgement.explanation)) == judgement.measures["alarms"]
    assert sum(judgement.measures["alarms"] for judgement in judgements) > 0
    assert judge.scorer.cache.misses == 3  # as many as there are sources: each is encoded once


@pytest.mark.parametrize(("summary", "remark"), [("", "empty"), ("☃☃☃", "nothing was checked")])
def test_where_nothing_is_checked(bert_folder: str, summary: str, remark: str, pairs: Pairs) -> None:
    judgement = Judge(explain=True, model=bert_folder)([summary], [pairs[0][1]])[0]
    assert remark in judgement.text()
    metadata = judgement.metadata()
    assert metadata["alarm_list"] == []
    assert json.loads(json.dumps(metadata, allow_nan=False)) == metadata


def test_without_explanation(bert_folder: str, pairs: Pairs) -> None:
    judgement = Judge(model=bert_folder)([pairs[9][0]], [pairs[9][1]])[0]
    assert judgement.explanation is None
    assert judgement.text().startswith(f"{judgement.measures['alarms']:.0f} alarms")
    assert "alarm_list" not in judgement.metadata()


def test_several_layers_are_refused() -> None:
    for layers in ("all", (1, 2)):
        with pytest.raises(ValueError, match="`layers` to be one layer"):
            Judge(layers=layers)


def test_a_shared_scorer_need_not_compute_the_measures(bert_folder: str, pairs: Pairs) -> None:
    with pytest.raises(ValueError, match=r"`measures` to be one of alarms, .*, but got 'rouge'"):
        Judge(measures=["alarms", "rouge"])
    scorer = EstimeScorer(model=bert_folder, cache=10**7)
    judge = Judge(scorer, measures=["copied", "alarms"])
    (judgement,) = judge([pairs[0][0]], [pairs[0][1]])
    assert judge.measures == ("copied", "alarms", "blank")
    assert set(judge.measures) < set(judgement.measures)
    assert (judge.scorer.encoder, judge.scorer.cache) == (scorer.encoder, scorer.cache)
