"""The unit ``word`` against the authors' released code, ``blanc`` 0.3.4, and the differences from it."""

from __future__ import annotations

import importlib.util
import logging
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from estime_metric import EstimeScorer, embedded
from estime_metric.engine.matching import TIE_TOLERANCE
from estime_metric.engine.words import split_words
from tests.families import save_encoder

#: The five outputs of the released code, under its own names, which are ours too.
OUTPUTS = ("alarms", "alarms_adjusted", "alarms_alltokens", "soft", "coherence")
COUNTS = OUTPUTS[:3]
EVERY = OUTPUTS[2:]


def toy_tagger(words: list[str]) -> list[tuple[str, str]]:
    """Pairs, as ``nltk.pos_tag`` returns them."""
    return [(word, "DT" if word.lower() in ("a", "an", "the") else "X") for word in words]


@pytest.fixture(scope="module")
def released() -> ModuleType:
    """The file ``blanc/estime.py`` alone: its package does not import with current versions of ``transformers``."""
    pytest.importorskip("nltk")
    pytest.importorskip("scipy.stats")
    package = importlib.util.find_spec("blanc")
    folders = list(package.submodule_search_locations or ()) if package else []
    file = next((Path(folder) / "estime.py" for folder in folders if (Path(folder) / "estime.py").is_file()), None)
    if file is None:
        pytest.skip("blanc 0.3.4 is not at hand: pip install --no-deps blanc==0.3.4")
    logger = logging.getLogger("transformers")
    level = logger.level
    spec = importlib.util.spec_from_file_location("blanc_estime", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    logger.setLevel(level)  # importing it sets the level
    # One splitter, one tagger and one tokenizer for both sides; NLTK's need data.
    module.word_tokenize = split_words
    module.nltk = type("nltk", (), {"pos_tag": staticmethod(toy_tagger)})
    module.BertTokenizer = transformers.AutoTokenizer
    return module


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small random BERT with the vocabulary of the embedded encoder."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)
    return str(save_encoder(tmp_path_factory.mktemp("word") / "small", "bert", tokenizer, num_hidden_layers=3))


@pytest.fixture(scope="module")
def released_estime(released: ModuleType) -> Callable[..., Any]:
    """Makes an ``Estime`` of the released code."""

    def make(folder: str, layer: int, **options: Any) -> Any:
        estime = released.Estime(
            path_mdl=folder, path_mdl_raw=folder, i_layer_context=layer, output=list(OUTPUTS), **options
        )
        estime.model.cls = torch.nn.Identity()  # its logits are dropped there, and cost most of the time
        estime.model.requires_grad_(False)
        return estime

    return make


def best_two(estime: Any, source: str, summary: str) -> list[tuple[float, float]]:
    """For each word of a summary the released code's two best dot products with words of different first pieces."""
    estime.evaluate_claims(source, [])
    words = split_words(summary)
    tokens, positions = estime._translate_words_to_tokens(words)
    found = estime._get_embeddings(tokens, list(range(len(words))), positions)
    source_tokens, _ = estime._translate_words_to_tokens(split_words(source))
    pairs = []
    for embedding in found.values():
        best: dict[str, float] = {}
        for at, other in estime.embs_mask_text.items():
            best[source_tokens[at]] = max(best.get(source_tokens[at], -math.inf), float(np.dot(embedding, other)))
        pairs.append(tuple(sorted(best.values())[-2:]))
    return pairs


def compare(
    estime: Any, scorer: EstimeScorer, sources: dict[str, list[str]]
) -> tuple[int, list[tuple[str, str, str, float, float]]]:
    """How many values were compared, and those that differ."""
    compared, different = 0, []
    for source, summaries in sources.items():
        theirs = estime.evaluate_claims(source, summaries)
        ours = scorer.score_candidates(summaries, source)
        for column, measure in enumerate(OUTPUTS):
            allowed = 1e-9 if measure in COUNTS else 1e-5
            for summary, row, value in zip(summaries, theirs, ours.values(measure).tolist(), strict=True):
                compared += 1
                expected = 0.0 if math.isnan(row[column]) else row[column]  # no order, see below
                if not abs(expected - value) <= allowed:
                    different.append((source, summary, measure, expected, value))
    return compared, different


def explain(estime: Any, different: list[tuple[str, str, str, float, float]]) -> None:
    """Every difference must be a verdict that rounding can turn: two best matches within the tolerance of ties."""
    for source, summary, measure, theirs, ours in different:
        gaps = [abs(one - two) / max(abs(one), abs(two)) for one, two in best_two(estime, source, summary)]
        assert min(gaps) <= TIE_TOLERANCE[torch.float32], (
            f"{measure} {theirs} != {ours} without a tie: {summary[:80]!r}"
        )


def by_source(pairs: list[tuple[str, str]], documents: int, each: int) -> dict[str, list[str]]:
    """The first summaries of the first sources."""
    grouped: dict[str, list[str]] = {}
    for summary, source in pairs:
        if summary not in grouped.setdefault(source, []):
            grouped[source].append(summary)
    return {source: summaries[:each] for source, summaries in list(grouped.items())[:documents]}


@pytest.mark.slow
def test_it_equals_the_released_code_on_160_pairs(
    released_estime: Callable[..., Any], random_folder: str, summeval: list[tuple[str, str]]
) -> None:
    sources = by_source(summeval, 11, 16)
    assert sum(map(len, sources.values())) >= 160
    estime = released_estime(random_folder, 2)
    scorer = EstimeScorer(model=random_folder, layers=2, unit="word", measures=EVERY)
    compared, different = compare(estime, scorer, sources)
    print(f"{compared} values compared, {len(different)} differ")
    assert compared >= 5 * 160
    assert len(different) <= compared // 100
    explain(estime, different)


@pytest.mark.slow
def test_it_equals_the_released_code_with_the_embedded_encoder(
    released_estime: Callable[..., Any], small_folder: str, summeval: list[tuple[str, str]]
) -> None:
    sources = by_source(sorted(summeval, key=lambda pair: len(pair[1])), 4, 4)
    estime = released_estime(small_folder, 4)
    scorer = EstimeScorer(model="embedded-small", layers=4, unit="word", measures=EVERY)
    compared, different = compare(estime, scorer, sources)
    print(f"{compared} values compared, {len(different)} differ")
    assert compared == 80
    assert len(different) <= 1
    explain(estime, different)


@pytest.mark.parametrize("setting", [(60, 10, 3), (110, 40, 8), (450, 50, 16), (200, 5, 1)])
def test_it_equals_the_released_code_at_other_settings(
    setting: tuple[int, int, int],
    released_estime: Callable[..., Any],
    random_folder: str,
    pairs: list[tuple[str, str]],
) -> None:
    window, margin, distance = setting
    estime = released_estime(random_folder, 3, input_size_max=window, margin=margin, distance_word_min=distance)
    scorer = EstimeScorer(
        model=random_folder, layers=3, unit="word", measures=EVERY, window=window, margin=margin, distance=distance
    )
    compared, different = compare(estime, scorer, by_source(pairs, 3, 4))
    assert compared == 60
    explain(estime, different)
    assert len(different) <= 2


def test_accents_and_ligatures_are_decomposed_as_there(released_estime: Callable[..., Any], random_folder: str) -> None:
    source = "The café’s eﬃcient ﬁrst chef won ½ of the prize; Ａ résumé ①."  # noqa: RUF001
    summary = "The first cafe\u0301 chef won A prize 1⁄2."  # noqa: RUF001
    estime = released_estime(random_folder, 2)
    scorer = EstimeScorer(model=random_folder, layers=2, unit="word", measures=EVERY)
    compared, different = compare(estime, scorer, {source: [summary, source]})
    assert compared == 10
    assert not different
    result = scorer.score_candidates([summary], source)
    assert result.values("overlap").tolist() == [10]  # all but the accented word, which has no 's


# Rules that are the same there


@pytest.fixture(scope="module")
def word_scorer(random_folder: str) -> EstimeScorer:
    return EstimeScorer(model=random_folder, layers=2, unit="word", measures=EVERY)


SOURCE = "The Turkey trade deal, signed in March, ended a long dispute between the two neighbours."


def test_without_overlap_all_words_count(
    released_estime: Callable[..., Any], word_scorer: EstimeScorer, random_folder: str
) -> None:
    summary = "Nobody knows anything here"
    theirs = dict(zip(OUTPUTS, released_estime(random_folder, 2).evaluate_claims(SOURCE, [summary])[0], strict=True))
    ours = word_scorer.score([summary], [SOURCE])
    assert {measure: ours.values(measure).item() for measure in COUNTS} == {
        measure: theirs[measure] for measure in COUNTS
    }
    assert (ours.values("overlap").item(), ours.values("alarms").item()) == (0, 4)
    assert [ours[measure].item() for measure in ("unsupported", "unsupported_rate", "coverage")] == [4, 1, 0]
    assert ours["alarm_rate"].isnan()
    assert ours.unchecked == [0]
    of_tokens = EstimeScorer(model=random_folder, layers=2).score(["zebra quagga"], [SOURCE])
    assert (of_tokens.values("overlap").item(), of_tokens.values("alarms").item()) == (0, 0)


def test_overlap_tells_capitals_apart_though_the_encoder_does_not(word_scorer: EstimeScorer) -> None:
    same, lower = word_scorer.score_candidates(["Turkey Trade", "turkey trade"], SOURCE).values("overlap").tolist()
    assert (same, lower) == (1, 1)
    pieces = word_scorer.encoder.tokenizer
    assert pieces.tokenize("Turkey") == pieces.tokenize("turkey")
    tokens = EstimeScorer(model=word_scorer.config.model, layers=2).score(["turkey trade"], [SOURCE])
    assert tokens.values("overlap").item() == tokens.values("tokens").item()


def test_words_of_equal_first_pieces_match(word_scorer: EstimeScorer) -> None:
    """A word is compared by its first piece, so ``TURKEY`` is no alarm beside ``Turkey``, though it does not occur."""
    result = word_scorer.score(["TURKEY"], ["Turkey"])
    assert result.values("overlap").item() == 0
    assert result.values("alarms_alltokens").item() == 0


def test_the_form_of_the_text_does_not_matter(word_scorer: EstimeScorer) -> None:
    composed, decomposed = "The café ﬁrst", "The cafe\u0301 first"
    result = word_scorer.score([composed, decomposed], [decomposed, composed])
    assert result.values("overlap").tolist() == [3, 3]
    assert len(set(result.values("alarms").tolist())) == 1


# Differences


def released_inputs(estime: Any, most: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the released code's inputs and stops it after ``most`` of them."""
    counted: list[int] = []

    def count(tokens: list[str], **input_: Any) -> dict[int, Any]:
        counted.append(len(input_["toks_mask_input"]))
        if len(counted) > most:
            raise InterruptedError
        return {}

    monkeypatch.setattr(estime, "_get_embeddings_from_input", count)
    return counted


@pytest.mark.filterwarnings("ignore:The encoder .* does not seem to know the language:RuntimeWarning")
def test_a_word_of_more_than_350_pieces_ends(
    released_estime: Callable[..., Any], word_scorer: EstimeScorer, random_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "cat" + "-cat" * 300
    source = f"{'The dog saw it and ' * 12}{long} sat on the mat."
    assert len(word_scorer.encoder.tokenizer.tokenize(long)) > 500
    result = word_scorer.score([source, long], [source, source])
    assert result.values("alarms").tolist()[0] >= 0
    assert result.values("overlap").tolist() == [len(split_words(source)), 1]
    estime = released_estime(random_folder, 2)
    counted = released_inputs(estime, 1000, monkeypatch)
    with pytest.raises(InterruptedError):
        estime.evaluate_claims(source, [])
    assert counted[-100:] == [0] * 100  # nothing masked, again and again


def test_a_word_of_no_pieces_is_left_out(
    released: ModuleType,
    released_estime: Callable[..., Any],
    word_scorer: EstimeScorer,
    random_folder: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summary, bare = "The deal \x01 ended a dispute", "The deal ended a dispute"
    assert split_words(summary)[2] == "\x01"
    result = word_scorer.score([summary, bare], [SOURCE, SOURCE])
    assert result.values("tokens").tolist() == [5, 5]
    assert result.values("overlap").tolist() == [5, 5]
    # There, the word takes its neighbour's token; at the end of a text there is none.
    estime = released_estime(random_folder, 2)
    _, positions = estime._translate_words_to_tokens(split_words(summary))
    assert positions[2][0] == positions[3][0]
    with pytest.raises(IndexError):
        estime.evaluate_claims(SOURCE, ["The deal \x01"])
    assert word_scorer.score(["The deal \x01"], [SOURCE]).values("tokens").item() == 2


def test_without_a_margin_no_window_is_left(released_estime: Callable[..., Any], random_folder: str) -> None:
    sizes = {"window": 10, "margin": 0, "distance": 10}
    scorer = EstimeScorer(model=random_folder, layers=2, unit="word", **sizes)
    assert scorer.score([SOURCE], [SOURCE]).values("overlap").item() == len(split_words(SOURCE))
    estime = released_estime(random_folder, 2, input_size_max=10, margin=0, distance_word_min=10)
    with pytest.raises(IndexError):
        estime.evaluate_claims(SOURCE, [])


def test_an_empty_summary_has_a_score(
    released_estime: Callable[..., Any], word_scorer: EstimeScorer, random_folder: str
) -> None:
    for summary in ("", " \n", "\x01"):
        result = word_scorer.score([summary], [SOURCE])
        values = [result.values(measure).item() for measure in OUTPUTS]
        assert values == [0, 0, 0, 0, 0]
        assert (result.blank, result["inconsistency"].tolist()) == ([0], [1])
    with pytest.raises(ZeroDivisionError):
        released_estime(random_folder, 2).evaluate_claims(SOURCE, [""])


def test_an_empty_source_matches_nothing(
    released_estime: Callable[..., Any], word_scorer: EstimeScorer, random_folder: str
) -> None:
    result = word_scorer.score(["The deal ended", ""], ["", ""])
    values = [result.values(measure).tolist() for measure in OUTPUTS]
    assert values == [[3, 0], [3, 0], [3, 0], [0, 0], [0, 0]]
    assert result["inconsistency"].tolist() == [1, 1]
    assert (result["unsupported"].tolist(), result.unchecked, result.blank) == ([3, 0], [0, 1], [1])
    with pytest.raises(IndexError):
        released_estime(random_folder, 2).evaluate_claims("", ["The deal ended"])


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_coherence_is_0_where_there_is_no_order(
    released_estime: Callable[..., Any], word_scorer: EstimeScorer, random_folder: str
) -> None:
    estime = released_estime(random_folder, 2)
    for summary, source in (("deal", SOURCE), ("The deal ended", "deal")):
        theirs = estime.evaluate_claims(source, [summary])[0][OUTPUTS.index("coherence")]
        assert math.isnan(theirs)
        assert word_scorer.score([summary], [source]).values("coherence").item() == 0


def test_an_empty_set_of_tags_keeps_nothing(released_estime: Callable[..., Any], random_folder: str) -> None:
    scorer = EstimeScorer(
        model=random_folder, layers=2, unit="word", tagger=toy_tagger, keep_tags=frozenset(), measures=EVERY
    )
    result = scorer.score([SOURCE], [SOURCE])
    assert result.values("tokens").item() == result.values("alarms").item() == 0
    everything, nothing = (
        released_estime(random_folder, 2, tags_check=tags).evaluate_claims(SOURCE, [SOURCE[:40]]) for tags in (None, [])
    )
    assert everything == nothing


def test_parts_of_speech_are_left_out_on_both_sides(released_estime: Callable[..., Any], random_folder: str) -> None:
    summary = "The deal ended a dispute"
    scorer = EstimeScorer(
        model=random_folder, layers=2, unit="word", tagger=toy_tagger, drop_tags={"DT"}, measures=EVERY
    )
    result = scorer.score([summary], [SOURCE])
    assert (result.values("tokens").item(), result.values("overlap").item()) == (3, 3)
    estime = released_estime(random_folder, 2, tags_exclude=["DT"])
    theirs = dict(zip(OUTPUTS, estime.evaluate_claims(SOURCE, [summary])[0], strict=True))
    # There, only words of the source are left out: the summary's determiners still count as words, and as alarms.
    assert theirs["alarms_adjusted"] == theirs["alarms"] * 5 / 3
    assert theirs["alarms_alltokens"] >= result.values("alarms_alltokens").item() + 2
