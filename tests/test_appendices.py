"""Layers, encoders and parts of speech (appendices A, D, E), and all measures compared with naive ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch

from estime_metric import EncoderUnavailableError, EstimeResult, EstimeScorer
from estime_metric.engine.encoder.layers import BlockTaps
from estime_metric.engine.masking import WindowBatch
from estime_metric.measures import BASE_MEASURES, FURTHER_MEASURES
from tests.families import BLOCKS, DETERMINERS, SENTENCES, save_encoder, toy_tagger
from tests.oracle import Oracle

SOURCE = " ".join(SENTENCES[:4])
SUMMARY = "The dog slept behind the bridge on Monday while a judge ordered the mayor to leave the old city in 1874."
Pairs = list[tuple[str, str]]


def near(first: float, second: float) -> bool:
    """Whether two dot products may swap by rounding."""
    return abs(first - second) <= 3e-5 * max(abs(first), abs(second))


@contextmanager
def counted(scorer: EstimeScorer) -> Iterator[dict[str, int]]:
    """Counts the encoder's forward passes and the windows in them."""
    scorer.load()
    counts = {"passes": 0, "windows": 0}
    read = BlockTaps.read

    def count(taps: BlockTaps, batch: WindowBatch, layers: Sequence[int]) -> list[torch.Tensor]:
        counts["passes"] += 1
        counts["windows"] += len(batch.ids)
        return read(taps, batch, layers)

    with mock.patch.object(BlockTaps, "read", count):
        yield counts


class Naive:
    """All measures of one pair of tokens, with loops; parts of speech by the tokenizer's own words."""

    def __init__(
        self, folder: str, drop_determiners: bool = False, normalize: bool = False
    ) -> None:
        self.oracle = Oracle(folder, normalize=normalize)
        self.drop = drop_determiners

    def kept(self, text: str) -> list[int]:
        """Positions of the tokens that are used."""
        encoded = self.oracle.tokenizer(text, add_special_tokens=False)
        words = [encoded.word_to_chars(word) for word in encoded.word_ids()]
        spelled = [text[span.start : span.end].lower() for span in words]
        return [
            index for index, word in enumerate(spelled) if not (self.drop and word in DETERMINERS)
        ]

    def score(self, summary: str, source: str, layer: int) -> dict[str, tuple[float, float]]:
        """The measures not derived from others, and how far rounding may move each where dot
        products are close.
        """
        summary_ids, source_ids = self.oracle.tokens(summary), self.oracle.tokens(source)
        summary_kept, source_kept = self.kept(summary), self.kept(source)
        known = {source_ids[j] for j in source_kept} - set(self.oracle.tokenizer.all_special_ids)
        checked = [i for i in summary_kept if summary_ids[i] in known]
        source_embeddings = self.oracle.embeddings(source_ids, set(source_kept))
        weights = self.oracle.model.get_input_embeddings().weight.detach().double().numpy()

        def best(wanted: list[int]) -> Iterator[tuple[int, dict[int, float]]]:
            summary_embeddings = self.oracle.embeddings(summary_ids, set(wanted))
            for i in wanted:
                yield (
                    i,
                    {
                        j: float(summary_embeddings[i][layer] @ source_embeddings[j][layer])
                        for j in source_kept
                    },
                )

        alarms = winners = all_alarms = near_alarms = near_winners = near_best = 0
        for i, dots in best(checked):
            same = max(dot for j, dot in dots.items() if source_ids[j] == summary_ids[i])
            others = [dot for j, dot in dots.items() if source_ids[j] != summary_ids[i]]
            alarms += any(dot > same for dot in others)
            winners += sum(dot > same for dot in others)
            near_alarms += bool(others) and near(max(others), same)
            near_winners += sum(near(dot, same) for dot in others)
        positions, cosines = [], []
        for i, dots in best(summary_kept):
            best = max(dots, key=dots.__getitem__)
            positions.append(best)
            all_alarms += source_ids[best] != summary_ids[i]
            summary_weights, source_weights = weights[summary_ids[i]], weights[source_ids[best]]
            cosines.append(
                float(
                    summary_weights
                    @ source_weights
                    / (np.linalg.norm(summary_weights) * np.linalg.norm(source_weights))
                )
            )
            near_best += sum(near(dot, dots[best]) for dot in dots.values()) > 1
        tau = pytest.importorskip("scipy.stats").kendalltau
        order = (
            tau(range(len(positions)), positions, variant="c").correlation
            if len(set(positions)) > 1
            else 0.0
        )
        return {
            "alarms": (alarms, near_alarms),
            "winners": (winners, near_winners),
            "overlap": (len(checked), 0),
            "tokens": (len(summary_kept), 0),
            "alarms_alltokens": (all_alarms, near_best),
            "soft": (float(np.mean(cosines)), 2 * near_best / len(positions)),
            "coherence": (order, 2 * (near_best > 0)),
        }


@pytest.mark.parametrize(
    ("options", "naive"),
    [
        ({}, {}),
        ({"normalize": True}, {"normalize": True}),
        ({"tagger": toy_tagger, "drop_tags": {"DT"}}, {"drop_determiners": True}),
    ],
    ids=["plain", "normalized", "without determiners"],
)
def test_all_measures_are_the_naive_ones(
    bert_folder: str, pairs: Pairs, options: dict, naive: dict
) -> None:
    """As far as no two dot products are nearly equal; the tokens of the last summary do not all
    occur in its source.
    """
    few = [
        pairs[0],
        pairs[1],
        pairs[3],
        pairs[4],
        (SUMMARY, SOURCE),
    ]  # of short and middling sources
    scorer = EstimeScorer(model=bert_folder, layers=3, measures=FURTHER_MEASURES, **options)
    result, loops = scorer.score(*zip(*few, strict=True)), Naive(bert_folder, **naive)
    exact = []
    for number, (summary, source) in enumerate(few):
        for name, (value, slack) in loops.score(summary, source, layer=3).items():
            assert abs(result.values(name)[number].item() - value) <= slack + 1e-5, (name, summary)
            exact.append(slack == 0)
    assert np.mean(exact) >= 0.5
    assert result.values("overlap")[-1] < result.values("tokens")[-1]


@pytest.mark.parametrize("unit", ["token", "word"])
def test_all_layers_take_one_pass(unit: str, bert_folder: str) -> None:
    everything = EstimeScorer(model=bert_folder, layers="all", unit=unit, measures=FURTHER_MEASURES)
    with counted(everything) as passes_of_all:
        result = everything.score([SUMMARY], [SOURCE])
    assert result.layers == tuple(range(BLOCKS + 1))
    assert len({result.values("alarms", layer).item() for layer in result.layers}) > 1
    for layer in result.layers:
        single = EstimeScorer(model=bert_folder, layers=layer, unit=unit, measures=FURTHER_MEASURES)
        with counted(single) as passes_of_one:
            alone = single.score([SUMMARY], [SOURCE])
        assert passes_of_one == passes_of_all
        for measure in (*BASE_MEASURES, *FURTHER_MEASURES):
            expected = alone.values(measure).item()
            assert result.values(measure, layer).item() == pytest.approx(expected, abs=1e-5), (
                measure,
                layer,
            )


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
    with pytest.raises(EncoderUnavailableError, match="none"):
        score(str(tmp_path / "none"), "soft")


def test_soft_of_a_summary_that_repeats_its_source_exactly(bert_folder: str) -> None:
    """Each position matches itself where embeddings are scaled, and its cosine with itself is 1."""
    scorer = EstimeScorer(model=bert_folder, layers=3, normalize=True, measures=FURTHER_MEASURES)
    result = scorer.score([SOURCE], [SOURCE])
    assert [result[name].item() for name in ("soft", "coherence")] == pytest.approx(
        [1, 1], abs=1e-6
    )
    assert (result["alarms"].item(), result["alarms_alltokens"].item()) == (0, 0)
    assert result["overlap"].item() == result["tokens"].item()
