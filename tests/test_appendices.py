"""Layers, encoders and parts of speech (appendices A, D, E), and the measures over all tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.measures import FURTHER_MEASURES
from tests.families import BLOCKS, DETERMINERS, SENTENCES, save_encoder, toy_tagger
from tests.oracle import Oracle
from tests.test_scorer import encoded

__all__ = ["encoded"]  # a fixture

kendalltau = pytest.importorskip("scipy.stats").kendalltau

SOURCE = " ".join(SENTENCES[:4])
SUMMARY = "The dog slept behind the bridge on Monday while a judge ordered the mayor to leave the old city in 1874."
Pairs = list[tuple[str, str]]


@pytest.mark.parametrize(
    ("options", "naive"),
    [
        ({}, {}),
        ({"normalize": True}, {"normalize": True}),
        ({"tagger": toy_tagger, "drop_tags": {"DT"}}, {"leave_out": DETERMINERS}),
    ],
    ids=["plain", "normalized", "without determiners"],
)
def test_measures_over_all_tokens_are_the_naive_ones(
    bert_folder: str, pairs: Pairs, options: dict, naive: dict
) -> None:
    """The tokens of the last summary do not all occur in its source."""
    few = [*pairs[:2], *pairs[3:5], (SUMMARY, SOURCE)]  # of short and middling sources
    scorer = EstimeScorer(model=bert_folder, layers=3, measures=FURTHER_MEASURES, **options)
    result = scorer.score(*zip(*few, strict=True))
    oracle = Oracle(bert_folder, **naive)
    weights = oracle.model.get_input_embeddings().weight.detach().double()
    exact = 0
    names = ("tokens", "overlap", "alarms", "winners", *FURTHER_MEASURES)
    for number, (summary, source) in enumerate(few):
        row = {name: result[name][number].item() for name in names}
        verdict = oracle.score(summary, source, [3])[3]
        assert verdict.allows(*(row[name] for name in ("tokens", "overlap", "alarms", "winners")))
        ids, best_ids, best_at, near = zip(*oracle.best_matches(summary, source, 3), strict=True)
        alarms = sum(own != best for own, best in zip(ids, best_ids, strict=True))
        assert abs(row["alarms_alltokens"] - alarms) <= sum(near)
        cosine = torch.cosine_similarity(weights[[*ids]], weights[[*best_ids]]).mean().item()
        assert row["soft"] == pytest.approx(cosine, abs=1e-5 + 2 * np.mean(near))
        order = kendalltau(range(len(ids)), best_at, variant="c").correlation
        order = 0 if len(set(best_at)) == 1 else order
        assert row["coherence"] == pytest.approx(order, abs=1e-5 + 2 * any(near))
        exact += not any(near)
    assert exact >= 2
    assert row["overlap"] < row["tokens"]


@pytest.mark.parametrize("unit", ["token", "word"])
def test_all_layers_take_one_pass(unit: str, bert_folder: str, encoded) -> None:
    options = {"model": bert_folder, "unit": unit, "measures": FURTHER_MEASURES}
    result = EstimeScorer(layers="all", **options).score([SUMMARY], [SOURCE])
    assert result.layers == tuple(range(BLOCKS + 1))
    assert len({result["alarms", layer].item() for layer in result.layers}) > 1
    for layer in result.layers:
        alone = EstimeScorer(layers=layer, **options).score([SUMMARY], [SOURCE])
        for name in result.measures:
            assert result[name, layer].item() == pytest.approx(alone[name].item(), abs=1e-5), name
    assert len({sum(len(text.windows) for text in texts) for texts in encoded}) == 1
    assert len(encoded) == 1 + len(result.layers)


@pytest.mark.parametrize("unit", ["token", "word"])
def test_of_a_source_of_dropped_words_nothing_is_matched(unit: str, bert_folder: str) -> None:
    dropped = {"tagger": toy_tagger, "drop_tags": {"DT"}, "measures": "soft"}
    scorer = EstimeScorer(model=bert_folder, layers=3, unit=unit, **dropped)
    result = scorer.score(["The dog"], ["the The a"])
    names = ("tokens", "overlap", "winners", "soft")
    assert [result[name].item() for name in names] == [1, 0, 0, 0]


def test_soft_of_another_encoder(
    tmp_path: Path, bert_folder: str, bert_tokenizer, encoder_folder: Callable[[str], str]
) -> None:
    other = str(save_encoder(tmp_path / "other", "bert", bert_tokenizer, seed=1, hidden_size=16))

    def score(soft_model: str | None, *measures: str) -> EstimeResult:
        scorer = EstimeScorer(model=bert_folder, layers=3, measures=measures, soft_model=soft_model)
        return scorer.score([SUMMARY, SOURCE], [SOURCE, SOURCE])

    results = [score(soft_model, "soft") for soft_model in (None, bert_folder, other)]
    own, same, lent = (result.values("soft").tolist() for result in results)
    assert own == same
    assert own != lent
    assert len({tuple(result.values("alarms").tolist()) for result in results}) == 1
    with pytest.raises(ValueError, match="argument `soft_model` to have the vocabulary of"):
        score(encoder_folder("roberta"), "soft")
