"""What a visitor gets, without a browser: limits of a request, explanations, data."""

from __future__ import annotations

import json
import logging
import re

import pytest

from estime_metric import EstimeScorer
from estime_metric.demo.handlers import EXAMPLES, Handlers, RefusedError

SOURCE = "The cat sat on the mat while the dog slept."
GERMAN = "Die Katze schläft auf dem Sofa, während der Hund im Garten den Nachbarn anbellt und Löcher gräbt. "


@pytest.fixture(scope="module")
def handlers() -> Handlers:
    return Handlers("embedded-small")


@pytest.fixture(scope="module")
def scorer() -> EstimeScorer:
    return EstimeScorer(model="embedded-small")


def test_empty_texts(handlers: Handlers) -> None:
    assert "Paste a source and its summary" in handlers.draw(" \n", "", "")
    assert "The source is missing" in handlers.draw(" \n", "The cat.", "")
    drawn = handlers.draw(SOURCE, "", "")
    assert drawn.index("The summary is empty") < drawn.index("demo-scale")
    for texts, blank in (((SOURCE, " "), "summary"), (("", "The cat."), "source")):
        with pytest.raises(ValueError, match=f"The {blank} is blank"):
            handlers.describe(*texts)


def test_two_summaries_are_compared_and_no_system_is_called_better(
    handlers: Handlers, scorer: EstimeScorer
) -> None:
    good, bad = "The cat sat on the mat.", "The dog sat on the cat while the mat slept."
    values = scorer.score_candidates([good, bad], SOURCE).values("inconsistency")
    for summaries, lower, higher in (
        ((good, bad), "first", "second"),
        ((bad, good), "second", "first"),
    ):
        drawn = handlers.draw(SOURCE, *summaries)
        assert f"The {lower} summary has a lower inconsistency than the {higher}" in drawn
        assert drawn.index("lower inconsistency") < drawn.index("does not show which system")
        assert "better</" not in drawn
    assert f"inconsistency {values[1]:.3f} and {values[0]:.3f}" in drawn
    assert "have the same inconsistency" in handlers.draw(SOURCE, good, good)


def test_the_scale_has_the_examples(handlers: Handlers, scorer: EstimeScorer) -> None:
    texts = ([row[side] for row in EXAMPLES] for side in ("summary", "source"))
    values = scorer.score(*texts).values("inconsistency")
    drawn = handlers.draw(SOURCE, "The cat sat.", "")
    assert len(re.findall('demo-(?:faithful|unfaithful)" style', drawn)) == len(values)
    assert f"{values.max():.3f} (unfaithful)" in " ".join(drawn.split())
    own = scorer.explain("The cat sat.", SOURCE).inconsistency
    assert f"Summary <b>{own:.3f}</b>" in drawn


@pytest.mark.filterwarnings("error")  # the page has them, the log does not
def test_another_language_and_swapped_texts_are_warned_of_each_time(handlers: Handlers) -> None:
    for _ in range(2):
        for summary in (GERMAN, "Die Katze schläft."):
            drawn = handlers.draw(GERMAN * 2, summary, "")
            assert "English" in drawn
            assert "`" not in drawn.partition('class="estime"')[0]  # no word of Python's
            assert drawn.index("English") < drawn.index('class="estime"')
    assert "swapped" in handlers.draw("The cat sat.", SOURCE, "")
    assert "demo-notice" not in handlers.draw(SOURCE, "The cat sat.", "")


def test_data_of_a_pair(handlers: Handlers, scorer: EstimeScorer) -> None:
    summary = "Peter sat on the cat."
    described = json.loads(json.dumps(handlers.describe(SOURCE, summary), allow_nan=False))
    shown = scorer.explain(summary, SOURCE)
    assert described["inconsistency"] == pytest.approx(shown.inconsistency, abs=1e-6)
    assert (described["alarms"], described["warnings"]) == (shown.alarms, [])
    assert described["signature"] == scorer.signature
    peter, *_, cat = described["words"]
    assert (peter["word"], peter["kind"]) == ("Peter", "new word")  # which begins a sentence
    assert (summary[cat["start"] : cat["end"]], cat["kind"]) == ("cat", "alarm")
    assert (cat["source_has"], cat["margin"] < 0) == ("dog", True)


def test_a_failure_is_told_without_the_text_and_logged_without_it(
    handlers: Handlers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("zebrafinch in a message")

    with caplog.at_level(logging.DEBUG):
        monkeypatch.setattr(handlers.scorer, "explain_checked", fail)
        drawn = handlers.draw(SOURCE, "zebrafinch", "")
    assert "Something went wrong (RuntimeError)" in drawn
    assert "zebrafinch" not in drawn + caplog.text
    assert "a request failed with RuntimeError" in caplog.messages


@pytest.mark.parametrize(
    ("source", "summary", "other", "message"),
    [
        ("a " * 11, "a cat", "", "source has 11 tokens; the limit of this page is 10."),
        ("a", "a cat", "a " * 12, "The summary has 12 tokens"),
        ("a", "a" * 5001, "", "summary has 5,001 characters; the limit of this page is 5,000."),
        ("a" * 20_001, "a", "", "The source has 20,001 characters"),
        ("?!", "a cat", "", "The source has no word and no number to compare a summary with."),
        ("a", "zebrafinch \ud800", "", "The summary has half of a character (a lone surrogate)."),
    ],
)
def test_texts_up_to_the_limit_pass_and_others_are_refused_in_a_visitors_words(
    handlers: Handlers,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    summary: str,
    other: str,
    message: str,
) -> None:
    monkeypatch.setattr("estime_metric.demo.handlers.TOKENS", 10)
    assert 'class="estime"' in handlers.draw("a " * 10, "a cat", "")
    assert message in handlers.draw(source, summary, other)
    with pytest.raises(RefusedError, match=re.escape(message)):
        handlers.describe(source, other or summary)
