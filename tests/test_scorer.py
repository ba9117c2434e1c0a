"""The scorer: the oracle's verdicts, and nothing but the pair itself changes a score."""

from __future__ import annotations

import random

import pytest
import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from estime_metric import EstimeResult, EstimeScorer
from estime_metric import scorer as scorer_module
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.masking import MaskedText
from estime_metric.measures import STATISTICS
from tests.families import BLOCKS, SENTENCES, TOKENIZERS
from tests.oracle import Oracle

SHORT = {"window": 60, "margin": 10, "distance": 4}
MEASURES = ("tokens", "overlap", "alarms", "winners")
Pairs = list[tuple[str, str]]


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[list[MaskedText]]:
    """The texts of each call of the encoder."""
    calls: list[list[MaskedText]] = []
    encode = MaskedEncoder.encode

    def spy(
        self: MaskedEncoder, texts: list[MaskedText], *others: object, **named: object
    ) -> list[Tensor]:
        calls.append(list(texts))
        return encode(self, texts, *others, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(MaskedEncoder, "encode", spy)
    return calls


def token_ids(scorer: EstimeScorer, text: str) -> list[int]:
    return scorer.encoder.tokenizer(text, add_special_tokens=False)["input_ids"]


def split(pairs: Pairs) -> tuple[list[str], list[str]]:
    return [summary for summary, _ in pairs], [source for _, source in pairs]


def few_kinds(number: int) -> Pairs:
    """Pairs of a few words said again and again, on which random encoders are often right and often
    wrong.
    """
    rng = random.Random(7)
    words = ["the", "cat", "sat", "on", "and"]
    source = " ".join(rng.choice(words) for _ in range(90))
    return [(" ".join(rng.choice(words) for _ in range(15)), source) for _ in range(number)]


def compare(folder: str, pairs: Pairs, layers: list[int], name: str, **setting: object) -> None:
    """Every difference from the oracle must be one that rounding can make."""
    oracle = Oracle(folder, **setting)  # type: ignore[arg-type]
    by_pair = [oracle.score(summary, source, layers) for summary, source in pairs]
    result = EstimeScorer(model=folder, layers=layers, device="cpu", **setting).score(*split(pairs))
    alarms = checked = 0
    for layer in layers:
        verdicts = [by_layer[layer] for by_layer in by_pair]
        rows = zip(*(result[measure, layer].tolist() for measure in MEASURES), strict=True)
        for number, (row, verdict) in enumerate(zip(rows, verdicts, strict=True)):
            assert verdict.allows(*row), (name, layer, number)
            alarms += verdict.alarms
            checked += verdict.overlap
        near = sum(verdict.near_ties for verdict in verdicts)
        assert result.ties(layer) == pytest.approx(near, abs=near * 0.6 + 2)
    assert 0.01 < alarms / checked < 0.999  # neither answer is the only one


def test_verdicts_are_those_of_the_paper(family: str, folder: str, pairs: Pairs) -> None:
    some = 6 if family in TOKENIZERS else 4
    short = [pair for number, pair in enumerate(pairs) if number % 3 < 2][
        :some
    ]  # not of the long source
    compare(folder, [*short, *few_kinds(some)], [1, 2, BLOCKS], family, **SHORT)
    if family == "bert":
        compare(
            folder, [*short[:4], *few_kinds(4)], [0, 2], "bert, normalized", normalize=True, **SHORT
        )


@pytest.mark.slow
def test_verdicts_of_the_small_encoder_are_those_of_the_paper(
    small_folder: str, summeval: Pairs
) -> None:
    some = sorted(summeval, key=lambda pair: len(pair[1]))[
        5:8
    ]  # of the shortest source, with errors
    compare(small_folder, some, [5], "embedded-small on SummEval")


@pytest.fixture
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, layers=[1, 3], device="cpu", **SHORT)


def assert_same(
    expected: EstimeResult, result: EstimeResult, rows: list[int] | None = None
) -> None:
    """All counts equal those expected, except for the rounding of batches of another shape."""
    first, second = expected._statistics[slice(None) if rows is None else rows], result._statistics
    for name, ties in (
        ("overlap", ""),
        ("tokens", ""),
        ("alarms", "ties"),
        ("winners", "winner_ties"),
    ):
        at = STATISTICS.index(name)
        change = (first[..., at] - second[..., at]).abs()
        if ties:
            at = STATISTICS.index(ties)
            change -= torch.maximum(first[..., at], second[..., at])
        assert (change <= 0).all(), name


def test_order_company_duplicates_and_budget_change_nothing(
    scorer: EstimeScorer, pairs: Pairs, encoded
) -> None:
    pairs = pairs[:9]
    whole = scorer.score(*split(pairs))
    rows = [row for row in range(len(pairs)) for _ in range(3)] + list(range(len(pairs)))
    assert_same(whole, scorer.score(*split([pairs[row] for row in rows])), rows)
    first, second = encoded
    assert sum(len(text.windows) for text in first) == sum(len(text.windows) for text in second)
    order = random.Random(0).sample(range(len(pairs)), len(pairs))
    for size in (1, 4, len(pairs)):
        for start in range(0, len(pairs), size):
            rows = order[start : start + size]
            assert_same(whole, scorer.score(*split([pairs[row] for row in rows])), rows)
    for budget in (1, 70, 500, 10**7):
        other = EstimeScorer(scorer.config, token_budget=budget)
        assert other.encoder is scorer.encoder
        assert_same(whole, other.score(*split(pairs)))


@pytest.mark.parametrize(
    ("unit", "size"), [("token", 1), ("token", 20_000), ("token", 100_000), ("word", 1)]
)
def test_chunks(
    scorer: EstimeScorer, pairs: Pairs, unit: str, size: int, monkeypatch, encoded
) -> None:
    """Also if a chunk contains a source with summaries of which nothing is encoded, and the next
    one the others.
    """
    scorer = EstimeScorer(scorer.config, unit=unit)
    (_, first_source), (_, source), *_ = pairs
    pairs = [("", first_source), ("", source), ("zebra", source), *pairs, ("", source)]
    whole = scorer.score(*split(pairs))
    monkeypatch.setattr(scorer_module, "EMBEDDED_BYTES", size)
    assert_same(whole, scorer.score(*split(pairs)))
    first, *chunks = encoded
    assert len(chunks) > 1
    # Every source is encoded once.
    windows = [len(text.windows) for texts in chunks for text in texts]
    assert sum(windows) == sum(len(text.windows) for text in first)


def test_a_chunk_goes_before_the_next_comes(
    bert_folder: str, pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that continues in the next chunk has separate memory by then."""
    scorer = EstimeScorer(model=bert_folder, layers=[1, 3], device="cpu", cache=10**8, **SHORT)
    monkeypatch.setattr(scorer_module, "EMBEDDED_BYTES", 20_000)
    encode, made, left = MaskedEncoder.encode, [], []

    def watched(self: MaskedEncoder, *texts: object, **options: object) -> list[Tensor]:
        left.append(sum(not storage.expired() for storage in made))
        states = encode(self, *texts, **options)  # type: ignore[arg-type]
        made.append(StorageWeakRef(states[0].untyped_storage()))
        return states

    monkeypatch.setattr(MaskedEncoder, "encode", watched)
    scorer.score(*split(pairs))
    assert len(left) > len({source for _, source in pairs})  # some source continues in the next
    scorer.explain_pairs(*split(pairs), layer=1)
    assert left == [0] * len(left)


def test_of_a_summary_only_what_occurs_in_its_source_is_encoded(
    scorer: EstimeScorer, encoded
) -> None:
    scorer.score(["the cat zzz"], ["the dog"])
    ((source, summary),) = encoded
    assert source.wanted == len(token_ids(scorer, "the dog"))
    assert [[*window.masked] for window in summary.windows] == [[0]]


def test_the_empty_and_what_has_nothing_in_common_are_zero_and_disturb_nobody(
    scorer: EstimeScorer, pairs
) -> None:
    result = scorer.score_candidates(["", "  \n", "...", "The cat sat."], "zebra !!!")
    for measure in ("alarms", "winners", "overlap"):
        assert result.values(measure, 3).tolist() == [0.0] * 4
    assert result.unchecked_indices == [0, 1, 2, 3]
    assert result.values("tokens", 3).tolist() == [0, 0, 3, 4]
    empty = [("", pairs[0][1]), (pairs[0][0], "zebra"), ("...", "zebra !!!")]
    result = scorer.score(*split([empty[0], *pairs[:3], *empty[1:], *pairs[3:6]]))
    others = EstimeResult(result._statistics[[1, 2, 3, 6, 7, 8]], result.config)
    assert_same(scorer.score(*split(pairs[:6])), others)
    assert result.unchecked_indices == [0, 4, 5]
    # A source of one token raises no alarm; punctuation is checked.
    result = scorer.score(["cat cat cat", "..."], ["cat", "The cat sat. ..."])
    assert result.values("overlap", 1).tolist() == [3.0, 3.0]
    assert (result.values("alarms", 1)[0], result.values("winners", 1)[0]) == (0, 0)
    assert len(scorer.score([], [])) == len(scorer.score_candidates([], "the cat")) == 0


def test_what_stands_at_the_end_of_a_long_text_is_seen(bert_folder: str) -> None:
    scorer = EstimeScorer(model=bert_folder, layers=[2], distance=2, device="cpu")
    text = " ".join(random.Random(3).choices(SENTENCES[0].lower().split(), k=2000))
    vocabulary = scorer.encoder.tokenizer.get_vocab()  # two words of one token that are not there
    known = set(token_ids(scorer, text))
    new = [word for word, i in vocabulary.items() if word.isalpha() and i not in known]
    word, other = sorted(new, key=len)[-2:]
    source = f"{text} {word} {other}"
    result = scorer.score_candidates([text, source, f"{text} {other} {word}"], source)
    for measure in ("tokens", "overlap"):
        short, *long = result.values(measure).tolist()
        assert long == [short + 2] * 2
    _, in_order, swapped = result.values("winners").tolist()
    assert in_order != swapped  # the same words in another context have other matches
    assert scorer.score([f"the {word}"] * 2, [text, source]).values("overlap").tolist() == [1, 2]


@pytest.mark.parametrize("unit", ["token", "word"])
def test_each_missing_token_counts_as_a_new_word_in_inconsistency_alone(
    bert_folder: str, unit: str
) -> None:
    options = {"model": bert_folder, "unit": unit, "layers": [1, 2], "device": "cpu"}
    source = " ".join(SENTENCES)
    summaries = [SENTENCES[0], " ".join(SENTENCES[:2]), SENTENCES[3].split()[0], ""]
    free = EstimeScorer(**options).score(summaries, [source] * 4)  # type: ignore[arg-type]
    least = int(free["tokens", 1][0])
    bound = EstimeScorer(**options, min_tokens=least).score(summaries, [source] * 4)  # type: ignore[arg-type]
    for layer in (1, 2):
        share = (free["tokens", layer] / least).clamp(max=1)
        expected = 1 - (1 - free["inconsistency", layer]) * share
        torch.testing.assert_close(bound["inconsistency", layer], expected, rtol=0, atol=1e-12)
        for name in {*free.config.reported_measures} - {"inconsistency"}:
            assert torch.equal(bound[name, layer].nan_to_num(-1), free[name, layer].nan_to_num(-1))
    assert bound.signature.parts["min_tokens"] == str(least)
    assert "min_tokens" not in free.signature.parts
