"""The unit ``word`` against the authors' released code, ``blanc`` 0.3.4, and the differences from
it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from estime_metric import EstimeScorer, embedded
from estime_metric.engine.splitter import split_words
from estime_metric.engine.units import units_of
from experiments.speed.programs import released_code
from tests.families import save_encoder, toy_tagger
from tests.test_scorer import Pairs

#: The five outputs of the released code, under its own names, which are ours too.
OUTPUTS = ("alarms", "alarms_adjusted", "alarms_alltokens", "soft", "coherence")
COUNTS = OUTPUTS[:3]
EVERY = OUTPUTS[2:]

MakeEstime = Callable[..., Any]


def pos_tag(words: list[str]) -> list[tuple[str, str]]:
    """Pairs, as those of ``nltk``."""
    return list(zip(words, toy_tagger(words), strict=True))


@pytest.fixture(scope="module")
def released() -> ModuleType:
    """One splitter, one tagger and one tokenizer for both sides; NLTK's need data."""
    pytest.importorskip("nltk")
    logger = logging.getLogger("transformers")
    level = logger.level
    module = released_code()
    logger.setLevel(level)
    if module is None:
        pytest.skip("blanc 0.3.4 is not installed: pip install --no-deps blanc==0.3.4")
    module.nltk = type("nltk", (), {"pos_tag": staticmethod(pos_tag)})
    return module


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small random BERT with the vocabulary of the bundled encoder."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)
    return str(
        save_encoder(
            tmp_path_factory.mktemp("word") / "small", "bert", tokenizer, num_hidden_layers=3
        )
    )


@pytest.fixture(scope="module")
def released_estime(released: ModuleType, random_folder: str) -> MakeEstime:
    def make(layer: int = 2, folder: str = random_folder, **options: Any) -> Any:
        estime = released.Estime(
            path_mdl=folder,
            path_mdl_raw=folder,
            i_layer_context=layer,
            output=list(OUTPUTS),
            **options,
        )
        estime.model.cls = (
            torch.nn.Identity()
        )  # its logits are dropped there, and cost most of the time
        estime.model.requires_grad_(False)
        return estime

    return make


def ours(
    folder: str, layer: int = 2, measures: tuple[str, ...] = EVERY, **options: Any
) -> EstimeScorer:
    options = {"distance": 8, **options}  # the released code's
    return EstimeScorer(model=folder, layers=layer, unit="word", measures=measures, **options)


@pytest.fixture(scope="module")
def word_scorer(random_folder: str) -> EstimeScorer:
    return ours(random_folder)


def compare(estime: Any, scorer: EstimeScorer, sources: dict[str, list[str]], most: int) -> None:
    """At most the given number of values may differ, and no more than rounding can change."""
    different = 0
    for source, summaries in sources.items():
        theirs = estime.evaluate_claims(source, summaries)
        result = scorer.score_candidates(summaries, source)
        for measure, column in zip(OUTPUTS, zip(*theirs, strict=True), strict=True):
            allowed = 1e-9 if measure in COUNTS else 1e-5
            expected = np.nan_to_num(column)  # no order, see below
            differ = np.abs(expected - result[measure].numpy()) > allowed
            assert differ.sum() <= result.ties(measure=measure), (measure, source[:80])
            different += differ.sum()
    assert different <= most


def by_source(pairs: Pairs, documents: int, each: int) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for summary, source in pairs:
        if summary not in grouped.setdefault(source, []):
            grouped[source].append(summary)
    return {source: summaries[:each] for source, summaries in list(grouped.items())[:documents]}


@pytest.mark.slow
def test_equal_on_summeval(
    released_estime: MakeEstime, random_folder: str, small_folder: str, summeval: Pairs
) -> None:
    compare(released_estime(), ours(random_folder), by_source(summeval, 2, 6), most=0)
    short = by_source(sorted(summeval, key=lambda pair: len(pair[1])), 1, 4)
    compare(released_estime(4, small_folder), ours("embedded-small", 4), short, most=0)


@pytest.mark.parametrize("setting", [(60, 10, 3), (110, 40, 8), (450, 50, 16), (200, 5, 1)])
def test_it_equals_the_released_code_at_other_settings(
    setting: tuple[int, int, int], released_estime: MakeEstime, random_folder: str, pairs: Pairs
) -> None:
    window, margin, distance = setting
    estime = released_estime(3, input_size_max=window, margin=margin, distance_word_min=distance)
    scorer = ours(random_folder, 3, window=window, margin=margin, distance=distance)
    compare(estime, scorer, by_source(pairs, 2, 4), most=1)


def test_accents_and_ligatures_are_decomposed_as_there(
    released_estime: MakeEstime, word_scorer: EstimeScorer
) -> None:
    source = "The café’s eﬃcient ﬁrst chef won ½ of the prize; Ａ résumé ①."  # noqa: RUF001
    summary = "The first cafe\u0301 chef won A prize 1⁄2."  # noqa: RUF001
    compare(released_estime(), word_scorer, {source: [summary, source]}, most=0)
    result = word_scorer.score_candidates([summary], source)
    assert result.values("overlap").tolist() == [10]  # all but the accented word, which has no 's


SOURCE = "The Turkey trade deal, signed in March, ended a long dispute between the two neighbours."


def test_without_overlap_all_count(
    released_estime: MakeEstime, word_scorer: EstimeScorer, random_folder: str
) -> None:
    summaries = ["Nobody knows anything here", "Nobody knows anything trade"]
    theirs = released_estime().evaluate_claims(SOURCE, summaries)
    result = word_scorer.score_candidates(summaries, SOURCE)
    for row, counts in enumerate(theirs):
        own = [result.values(measure)[row].item() for measure in COUNTS]
        assert own == list(counts[: len(COUNTS)])
    names = ("overlap", "alarms", "unsupported", "unsupported_rate", "coverage", "winners")
    assert [result[measure][0].item() for measure in names] == [0, 4, 4, 1, 0, 0]
    assert result.unchecked_indices == [0]
    by_token = EstimeScorer(model=random_folder, layers=2).score(["zebra quagga"], [SOURCE])
    assert (by_token.values("overlap").item(), by_token.values("alarms").item()) == (0, 0)


def test_overlap_tells_capitals_apart_but_words_of_equal_first_pieces_match(
    word_scorer: EstimeScorer,
) -> None:
    result = word_scorer.score_candidates(["Turkey Trade", "turkey trade"], SOURCE)
    assert result.values("overlap").tolist() == [1, 1]
    # A word is compared by its first piece, so ``TURKEY`` is not an alarm compared with ``Turkey``, though it
    # does not occur.
    result = word_scorer.score(["TURKEY"], ["Turkey"])
    assert result.values("overlap").item() == 0
    assert result.values("alarms_alltokens").item() == 0
    # The form of the text does not matter.
    composed, decomposed = "The café ﬁrst", "The cafe\u0301 first"
    result = word_scorer.score([composed, decomposed], [decomposed, composed])
    assert result.values("overlap").tolist() == [3, 3]
    assert len(set(result.values("alarms").tolist())) == 1


def test_a_word_of_more_than_350_pieces_ends(word_scorer: EstimeScorer) -> None:
    """There, its windows never end."""
    long = "cat" + "-cat" * 300
    source = f"{'The dog saw it and ' * 12}{long} sat on the mat."
    assert len(word_scorer.encoder.tokenizer.tokenize(long)) > 500
    result = word_scorer.score([source, long], [source, source])
    assert result.values("overlap").tolist() == [len(split_words(source)), 1]


def test_a_word_of_no_pieces_and_a_missing_margin_are_no_trouble(
    word_scorer: EstimeScorer, random_folder: str
) -> None:
    """There, such a word takes its neighbor's token, and both may end with an error."""
    summary, bare = "The deal \x01 ended a dispute", "The deal ended a dispute"
    assert split_words(summary)[2] == "\x01"
    result = word_scorer.score([summary, bare, "The deal \x01"], [SOURCE] * 3)
    assert result.values("tokens").tolist() == [5, 5, 2]
    assert result.values("overlap").tolist() == [5, 5, 2]
    # Without a margin, no window is left here.
    scorer = ours(random_folder, window=10, margin=0, distance=10)
    assert scorer.score([SOURCE], [SOURCE]).values("overlap").item() == len(split_words(SOURCE))


def test_an_empty_summary_has_a_score_and_one_word_has_no_order(word_scorer: EstimeScorer) -> None:
    """There, the first is an error, and the coherence is NaN."""
    result = word_scorer.score(["", " \n", "\x01"], [SOURCE] * 3)
    assert [result.values(measure).tolist() for measure in OUTPUTS] == [[0, 0, 0]] * 5
    assert (result.blank_indices, result["inconsistency"].tolist()) == ([0, 1, 2], [1, 1, 1])
    result = word_scorer.score(["deal", "The deal ended"], [SOURCE, "deal"])
    assert result.values("coherence").tolist() == [0, 0]


def test_parts_of_speech_are_left_out_on_both_sides(random_folder: str) -> None:
    """There, determiners of the summary still count as words, and as alarms, and an empty set of tags
    keeps everything.
    """
    nothing = ours(random_folder, tagger=pos_tag, keep_tags=frozenset()).score([SOURCE], [SOURCE])
    assert nothing.values("tokens").item() == nothing.values("alarms").item() == 0
    scorer = ours(random_folder, tagger=pos_tag, drop_tags={"DT"})
    result = scorer.score(["The deal ended a dispute"], [SOURCE])
    assert (result.values("tokens").item(), result.values("overlap").item()) == (3, 3)


def test_a_splitter_is_settable_and_a_tie_goes_to_the_same_word(
    random_folder: str, word_scorer: EstimeScorer
) -> None:
    summary, source = "deal, signed", "A deal, signed twice"
    scorers = [ours(random_folder, splitter=splitter) for splitter in ("regex", str.split, list)]
    counts = [scorer.score([summary], [source]).values("tokens").item() for scorer in scorers]
    assert counts == [3, 2, len(summary) - 1]
    # Every position is masked, so equal contexts give equal embeddings, whichever word is there.
    result = word_scorer.score(["deal", "dispute"], ["deal", "dispute"])
    assert result.values("alarms").tolist() == [0, 0]
    # There, a special token that a text spells out is one.
    config, tokenizer = word_scorer.resolved_config, word_scorer.encoder.tokenizer
    (units,) = units_of(["a [MASK] b [SEP]"], config, tokenizer)
    assert not set(tokenizer.all_special_ids) & set(units.tokens.tolist())
