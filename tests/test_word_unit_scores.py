"""The unit ``word``, beside what `test_word_unit` compares with the released code."""

from __future__ import annotations

import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric.engine.text import units_of
from tests.test_word_unit import EVERY, OUTPUTS, SOURCE, random_folder, word_scorer

__all__ = ["random_folder", "word_scorer"]  # fixtures


def test_a_tie_goes_to_the_same_word(word_scorer: EstimeScorer) -> None:
    """Every position is masked, so equal contexts give equal embeddings, whichever word stands there."""
    result = word_scorer.score(["deal", "dispute"], ["deal", "dispute"])
    assert result.values("alarms").tolist() == [0, 0]


def test_the_splitter_is_settable(random_folder: str) -> None:
    summary, source = "deal, signed", "A deal, signed twice"
    counts = {}
    for splitter in ("regex", str.split, list):
        scorer = EstimeScorer(model=random_folder, layers=2, unit="word", splitter=splitter)
        counts[str(splitter)] = scorer.score([summary], [source]).values("tokens").item()
    assert list(counts.values()) == [3, 2, len(summary) - 1]


def test_special_tokens_in_the_text_are_text(word_scorer: EstimeScorer) -> None:
    scorer = EstimeScorer(model=word_scorer.config.model, layers=2, unit="word", splitter=str.split)
    assert scorer.encoder.tokenizer.tokenize("[MASK]") == ["[MASK]"]  # what the released code does with a word
    special = set(scorer.encoder.tokenizer.all_special_ids)
    (units,) = units_of(["a [MASK] b [SEP]"], scorer.config, scorer.encoder.tokenizer)
    assert not special & set(units.tokens.tolist())


@pytest.mark.parametrize("unit", ["token", "word"])
def test_chunks_change_no_score(unit: str, random_folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a chunk holds a source with summaries of which nothing is encoded, and the next one the others."""
    summaries = ["", "zebra" if unit == "token" else "", "The deal ended a dispute in March.", "", SOURCE]
    scorer = EstimeScorer(model=random_folder, layers=2, unit=unit)
    at_once = scorer.score_candidates(summaries, SOURCE)
    monkeypatch.setattr("estime_metric.scorer.CHUNK_BYTES", 1)
    one_by_one = scorer.score_candidates(summaries, SOURCE)
    for measure in ("alarms", "overlap", "tokens"):
        assert one_by_one.values(measure).tolist() == at_once.values(measure).tolist()
    winners = at_once.values("winners").tolist()  # one of hundreds may change with rounding
    assert one_by_one.values("winners").tolist() == pytest.approx(winners, rel=0.005)


def test_other_encoders_score_words_too(kind_folder: str) -> None:
    scorer = EstimeScorer(model=kind_folder, unit="word", measures=EVERY, window=100, margin=20)
    source = "The cat sat on the mat while the dog slept. " * 12
    result = scorer.score(["The cat slept on the mat", ""], [source, source])
    assert result.values("tokens").tolist() == result.values("overlap").tolist() == [6, 0]
    for measure, low, high in (("alarms", 0, 6), ("coherence", -1, 1)):
        assert ((result.values(measure) >= low) & (result.values(measure) <= high)).all()
    assert -1 <= result.values("soft")[0] <= 1


def test_order_and_company_change_no_score(word_scorer: EstimeScorer, pairs: list[tuple[str, str]]) -> None:
    together = word_scorer.score(*zip(*pairs, strict=True))
    alone = [word_scorer.score([summary], [source]) for summary, source in reversed(pairs)][::-1]
    for measure in OUTPUTS:
        single = torch.cat([result.values(measure) for result in alone])
        assert torch.allclose(together.values(measure), single, atol=1e-5)
