"""Explanations: the verdicts add up to the score, the evidence is what loops over embeddings find,
spans are exact.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np
import pandas
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from estime_metric import EstimeScorer, Explanation
from estime_metric.checks import has_words
from estime_metric.config import UNITS
from estime_metric.engine.splitter import locate_words, split_words
from estime_metric.show.captions import note, strength
from estime_metric.verdicts import Evidence, UnitVerdict
from tests.explanations import explained
from tests.families import SENTENCES, TOKENIZERS
from tests.test_scorer import SHORT, Pairs, split

MakeFolder = Callable[[str], str]

#: Texts whose characters and tokens do not go hand in hand.
ODD_CHARACTERS = (
    "The cafe\u0301 and the café closed.",
    "A family \U0001f469\u200d\U0001f469\u200d\U0001f467 sat; \u2764\ufe0f and \U0001f1e9\U0001f1ea too.",
    "המועצה הצביעה the council וסגרה את הגשר",
    "أغلق المجلس الجسر القديم نَعَمْ",
    "नमस्ते दुनिया the bridge",
    "The eﬃcient ﬁrst ½ of 1,200  well-kept\u00a0cars.",
    'It\'s <b>bold</b> & "quoted".\r\n\tNew\u200bline',
)


def made(start: int, end: int, verdict: str = "match", margin: float | None = None) -> UnitVerdict:
    """A verdict without evidence."""
    return UnitVerdict(start, end, verdict, None, None, margin)


def word_units(text: str, margins: Mapping[str, float]) -> list[UnitVerdict]:
    """Each word with a margin is an alarm, each other one a match."""
    units = []
    for start, end in locate_words(text, split_words(text)):
        margin = margins.get(text[start:end])
        units.append(made(start, end, "match" if margin is None else "alarm", margin))
    return units


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", [*TOKENIZERS, "deberta-v2"])
def test_the_verdicts_add_up_to_the_score(
    encoder_folder: MakeFolder, name: str, pairs: Pairs, unit: str
) -> None:
    """Also if no word is shared; words that differ may begin with the same piece, in lower case or
    a blank.
    """
    apart = [("Zebra.", "Nothing alike"), ("b c", "a"), ("Cat, sat", "mat"), ("CAT", "cat")]
    texts = [*apart, *pairs[:9], ("", pairs[0][1]), ("  ", "mat")]
    texts.append((ODD_CHARACTERS[1], ODD_CHARACTERS[0]))
    scorer = EstimeScorer(model=encoder_folder(name), unit=unit, **SHORT)
    result = scorer.score(*split(texts))
    shown = scorer.explain_pairs(*split(texts))
    assert [each.overlap for each in shown] == result.values("overlap").tolist()
    assert [each.tokens for each in shown] == result.values("tokens").tolist()
    graded = [sum(unit.graded_alarm for unit in each.units) for each in shown]
    np.testing.assert_allclose(graded, [each.graded_alarms for each in shown], atol=1e-4)
    alarms = torch.tensor([each.alarms for each in shown])
    assert (alarms - result.values("alarms")).abs().sum() <= result.ties()
    for each in shown:
        check_spans(each)
        assert each.units or not each.prediction.strip()
        if each.overlap:
            assert sum(unit.verdict == "alarm" for unit in each.units) == each.alarms
    assert sum(each.alarms for each in shown[len(apart) :]) > 0
    assert {each.signature for each in shown} == {result.signature}


PASSAGES = [
    "Anna bought the red boat.\nIt sank.",
    "",
    {"id": "b7", "text": "Peter sold the house."},
]
JOINED = "Anna bought the red boat.\nIt sank.\n\nPeter sold the house."


def test_each_word_names_the_passage_of_its_evidence() -> None:
    scorer = EstimeScorer(model="embedded-small")
    summary = "Anna bought the red boat. Peter sold the house."
    shown, text = scorer.explain_pairs([summary] * 2, [PASSAGES, JOINED])
    assert (shown.source, shown.units) == (JOINED, text.units)  # an id is not scored
    assert [word.passage for word in shown.words] == [0] * 6 + ["b7"] * 5
    assert {word.passage for word in text.words} == {None}  # lines are not passages
    wrong = scorer.explain("Peter sold the boat in Oslo.", PASSAGES)
    boat, oslo = (word for word in wrong.words if word.text in ("boat", "Oslo"))
    assert (boat.kind, boat.best_text, boat.passage) == ("alarm", "house", "b7")
    assert (oslo.kind, oslo.passage) == ("new name", "b7")
    assert "'boat': alarm, best match in the source is 'house' (margin" in str(wrong)
    assert re.search("^- 'Oslo': new name, passage b7$", str(wrong), re.MULTILINE)
    assert wrong.to_dict()["passages"][2] == {"id": "b7", "start": 36, "end": 57}
    unseen = explained("Oslo", "", [made(0, 4, "absent")])
    assert [word.passage for word in replace(unseen, passages=wrong.passages).words] == [None]


def test_a_source_in_passages_scores_as_its_joined_text() -> None:
    scorer = EstimeScorer(model="embedded-small")
    summary = "Peter sold the boat."
    expected = scorer.score([summary], [JOINED]).inconsistency.item()
    assert scorer.score([summary], [PASSAGES]).inconsistency.item() == expected
    assert scorer.score_candidates([summary], PASSAGES).inconsistency.item() == expected
    batch = {"source": pandas.Series([PASSAGES]), "summary": [summary]}
    assert scorer.map_batch(batch)["inconsistency"] == [expected]


def test_it_has_every_measure_of_its_configuration(bert_folder: str, pairs: Pairs) -> None:
    scorer = EstimeScorer(model=bert_folder, measures=("winners", "coherence"), **SHORT)
    shown, result = scorer.explain(*pairs[3]), scorer.score(*split([pairs[3]]))
    for measure in result.measures:
        assert shown.value(measure) == pytest.approx(result[measure].item(), abs=1e-6), measure
    with pytest.raises(ValueError, match="Expected argument `measure` to be one of"):
        shown.value("soft")
    assert math.isnan(scorer.explain("they left", pairs[3][1]).value("new_names"))


def test_each_layer_has_its_own_verdicts(bert_folder: str, pairs: Pairs) -> None:
    scorer = EstimeScorer(model=bert_folder, layers=(3, 1), **SHORT)
    result = scorer.score(*split(pairs))
    for layer in (1, 3):
        shown = scorer.explain_pairs(*split(pairs), layer=layer)
        assert sum(each.alarms for each in shown) == result.values("alarms", layer).sum()
        assert {each.layer for each in shown} == {layer}
    assert result.values("alarms", 1).sum() != result.values("alarms", 3).sum()
    for layer in (None, 2):  # not read
        with pytest.raises(ValueError, match="Expected argument `layer` to be one of"):
            scorer.explain("A cat.", "A cat.", layer=layer)


@pytest.mark.parametrize("unit", UNITS)
def test_evidence_is_a_unit_of_the_source(kind_folder: str, pairs: Pairs, unit: str) -> None:
    scorer = EstimeScorer(model=kind_folder, unit=unit, **SHORT)
    tokenizer = scorer.encoder.tokenizer
    seen = set()
    for summary, source in pairs[:9]:
        places = {(other.start, other.end) for other in scorer.explain(source, source).units}
        for shown in scorer.explain(summary, source).units:
            seen.add(shown.verdict)
            assert (shown.best.start, shown.best.end) in places
            if shown.verdict == "absent":
                continue
            assert (shown.same.start, shown.same.end) in places
            texts = summary[shown.start : shown.end], source[shown.same.start : shown.same.end]
            if len(texts[0]) > 1:  # words of the same first piece are not told apart
                own, same = tokenizer([*texts], add_special_tokens=False)["input_ids"]
                assert texts[0].lower() == texts[1].lower() or own[0] == same[0]
            assert (shown.best == shown.same) == (shown.verdict == "match")
            assert (shown.margin < 0) == (shown.verdict == "alarm")
            if shown.verdict == "alarm":
                margin = shown.same.similarity - shown.best.similarity
                assert shown.margin == pytest.approx(margin, abs=1e-5)
    assert {"match", "alarm"} <= seen


def test_absent_units_are_shown_with_the_position_of_their_context(bert_folder: str) -> None:
    source, summary = "The cat sat on the mat while the dog slept.", "The river sat on the mat"
    for unit in UNITS:
        words = EstimeScorer(model=bert_folder, unit=unit, **SHORT).explain(summary, source).words
        assert "river" in [word.text for word in words if word.verdict == "absent"]
        for word in words:
            assert (word.verdict == "absent") == (word.same is None) == (word.margin is None)
            assert word.best_text.strip()
    first = EstimeScorer(model=bert_folder, **SHORT).explain("the cat", "the the").units[0]
    assert (first.verdict, first.margin) == ("match", None)  # there is no other unit
    assert first.best == first.same is not None


def test_a_word_that_the_encoder_cannot_read_is_not_said_to_be_absent(bert_folder: str) -> None:
    scorer = EstimeScorer(model=bert_folder, **SHORT)
    shown = scorer.explain("ሰላም river the", "the ሰላም sat")
    notes = [note(word, "token") for word in shown.words]
    assert [word.is_written for word in shown.words] == [True, False, True]
    assert "occurs in the source, but not as the same token, so it is not checked" in notes[0]
    assert "is not in the source" in notes[1]
    other_capitals = EstimeScorer(model=bert_folder, unit="word", **SHORT).explain("THE", "the cat")
    assert "but not as the same word" in note(other_capitals.words[0], "word")
    parts = [made(0, 3), made(3, 4, "absent")]
    shown = explained("cats", "s cat", parts, unit="word")  # cut by a user's splitter
    assert [word.is_written for word in shown.words] == [False, False]


@pytest.mark.parametrize("unit", UNITS)
def test_words_are_those_of_the_text_whatever_the_pieces_of_the_encoder_are(
    kind_folder: str, unit: str
) -> None:
    scorer = EstimeScorer(model=kind_folder, unit=unit, **SHORT)
    texts = [*ODD_CHARACTERS, *SENTENCES[:4]]
    for shown in scorer.explain_pairs(texts, texts[::-1]):
        check_spans(shown)
        words = [word.text for word in shown.words]
        assert words == [word.strip() for word in words]
        if shown.prediction in SENTENCES:  # "two million" is one new number
            assert " ".join(words).split() == split_words(shown.prediction)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    summary=st.text(st.characters(exclude_categories=["Cs"]), max_size=25),
    source=st.text(
        st.sampled_from("abc é.,'-\u0301\u200d\U0001f469\u05d0\n"), min_size=1, max_size=25
    ).filter(has_words),
)
@example(summary="0\u0300\U0001f469\u200d\U0001f467 \u0301a", source="a\u0301")
@example(summary="\ufb03\u00bd\u1e9e \u0130\u200b\ufeff  x", source="\u0130")
def test_spans_of_any_text(
    encoder_folder: MakeFolder, name: str, unit: str, summary: str, source: str
) -> None:
    scorer = EstimeScorer(model=encoder_folder(name), unit=unit, layers=0, **SHORT)
    check_spans(scorer.explain(summary, source))
    check_spans(scorer.explain(source, source + summary))


def check_spans(shown: Explanation) -> None:
    """Units and words are in order within the text, words are disjoint and cover all units, and none
    ends within a letter.
    """
    for units in (shown.units, shown.words):
        assert all(0 <= unit.start <= unit.end <= len(shown.prediction) for unit in units)
        assert all(unit.start <= following.start for unit, following in pairwise(units))
        evidence = {unit.best for unit in units} | {unit.same for unit in units}
        assert all(0 <= each.start <= each.end <= len(shown.source) for each in evidence - {None})
    assert all(word.end <= following.start for word, following in pairwise(shown.words))
    assert sum(word.units for word in shown.words) == len(shown.units)
    covered = {at for word in shown.words for at in range(word.start, word.end)}
    assert covered >= {at for unit in shown.units for at in range(unit.start, unit.end)}
    for unit in (*shown.units, *shown.words):
        ends = shown.prediction[unit.end : unit.end + 1]
        is_torn = unit.end > unit.start and ends and unicodedata.category(ends)[0] == "M"
        assert not is_torn or unit.end in covered


def test_a_word_is_an_alarm_if_a_piece_is_and_shows_the_clearest() -> None:
    alarm = UnitVerdict(0, 2, "alarm", Evidence(4, 6, 9.0), Evidence(0, 1, 8.0), -1.0, 0.6)
    clearer = UnitVerdict(2, 5, "alarm", Evidence(4, 6, 9.0), Evidence(0, 1, 6.0), -3.0, 0.9)
    match = UnitVerdict(5, 7, "match", Evidence(0, 1, 5.0), Evidence(0, 1, 5.0), 4.0)
    absent = UnitVerdict(8, 10, "absent", Evidence(0, 1, 5.0), None, None)
    shown = explained("unheard of", "x unheard", (alarm, clearer, match, absent))
    word, last = shown.words
    assert (word.start, word.end, word.verdict, word.units) == (0, 7, "alarm", 3)
    assert (word.margin, word.graded_alarm, word.same) == (-3.0, 0.9, Evidence(0, 1, 6.0))
    assert word.best == Evidence(2, 9, 9.0)  # widened to the word
    assert (last.start, last.end, last.verdict, last.units) == (8, 10, "absent", 1)
    assert (shown.alarms, shown.overlap, shown.tokens) == (2, 3, 4)


def test_all_that_is_shown_can_be_written_as_json(bert_folder: str, pairs: Pairs) -> None:
    shown = EstimeScorer(model=bert_folder, **SHORT).explain(*pairs[4])
    read = json.loads(json.dumps(shown.to_dict(), allow_nan=False))
    for name in ("prediction", "source", "alarms", "overlap", "tokens", "layer", "signature"):
        assert read.pop(name) == getattr(shown, name)
    assert read["units"] == [asdict(unit) for unit in shown.units]
    assert [word["text"] for word in read["words"]] == [word.text for word in shown.words]


def test_the_surest_words_come_first() -> None:
    source = "Anna Berg's boat cost 1,200 euros in May. The well-kept boat was red, he said."
    summary = "Boats of Berg cost 1,300 in May. Repairs by Smith, it says, paid Anna's well-made boat [7]."
    alarms = {"Anna's": -3.0, "May": -1.0, "it": -9.0, ",": -8.0, "7": -7.0, "cost": -2.0}
    shown = explained(summary, source, word_units(summary, alarms), unit="word")
    surest = "Smith 1,300 Boats Repairs says paid well-made Anna's cost May"
    assert " ".join(word.text for word in shown.surest_words()) == surest
    every = "Smith 1,300 Boats of Repairs by it says paid well-made , , 7 Anna's cost May"
    words = shown.surest_words(function_words=True)
    assert " ".join(word.text for word in words) == every
    kinds = ["new name", "new number", *["new word"] * 8, *["alarm"] * 6]
    assert [word.kind for word in words] == kinds


@pytest.mark.parametrize(
    ("source", "summary", "expected"),
    [
        # a function word that the source lacks is among the others that are left out
        (
            "Rust in four beams of a mill is found, say engineers.",
            "Rust was found in six beams.",
            [("six", "new number")],
        ),
        # one part of a word is written, the other is not
        ("Troops of the US left.", "US-backed troops left.", [("US-backed", "new word")]),
        ("Twelve men left.", "12 men left.", []),  # written in another form
        ("He met two of them.", "He met Bob Miller of them.", [("Bob Miller", "new name")]),
    ],
)
def test_every_new_word_is_shown_and_what_is_written_is_not(
    source: str, summary: str, expected: list[tuple[str, str]]
) -> None:
    shown = explained(summary, source, word_units(summary, {}), unit="word")
    assert [(word.text, word.kind) for word in shown.surest_words()] == expected


def test_a_number_in_another_form_is_not_said_to_be_absent() -> None:
    [word] = explained("12", "Twelve men left.", [made(0, 2, "absent")], unit="word").words
    assert (word.kind, word.is_written, strength(word)) == (None, True, 0.0)
    assert "occurs in the source" in note(word, "word")
