"""What a visitor gets, without a browser: encoders, limits of a request, explanations, data."""

from __future__ import annotations

import json
import logging
import re

import pytest

from estime_metric import EstimeScorer
from estime_metric.config import PAPER_MODEL
from estime_metric.demo.encoders import CHOICES, EXAMPLE_PAIRS, Encoders, Setting
from estime_metric.demo.handlers import Handlers
from estime_metric.demo.limits import Limits, RefusedError

SETTING = Setting("embedded-small", unit="token", layer=5)
SOURCE = "The cat sat on the mat while the dog slept."
GERMAN = "Die Katze schläft auf dem Sofa, während der Hund im Garten den Nachbarn anbellt und Löcher gräbt. "


@pytest.fixture(scope="module")
def handlers() -> Handlers:
    return Handlers(Encoders(["embedded-small"]))


@pytest.fixture(scope="module")
def scorer() -> EstimeScorer:
    return EstimeScorer(model="embedded-small")


def test_empty_texts(handlers: Handlers) -> None:
    assert "Paste a source and its summary" in handlers.draw(SETTING, " \n", "The cat.", "")
    assert "The summary is empty" in handlers.draw(SETTING, SOURCE, "", "")
    with pytest.raises(ValueError, match="a source and a summary that are not blank"):
        handlers.describe(SOURCE, " ")


def test_two_summaries_are_compared_and_no_system_is_called_better(
    handlers: Handlers, scorer: EstimeScorer
) -> None:
    good, bad = "The cat sat on the mat.", "The dog sat on the cat while the mat slept."
    lower, higher = scorer.score_candidates([good, bad], SOURCE).values("inconsistency")
    assert lower < higher
    for summaries, first, second in (((good, bad), lower, higher), ((bad, good), higher, lower)):
        drawn = handlers.draw(SETTING, SOURCE, *summaries)
        names = ("first", "second") if first < second else ("second", "first")
        assert f"The {names[0]} summary has a lower inconsistency than the {names[1]}" in drawn
        assert f"inconsistency {first:.3f} and {second:.3f}" in drawn
        assert drawn.index("lower inconsistency") < drawn.index("does not show which system")
        assert "better</" not in drawn
    assert "have the same inconsistency" in handlers.draw(SETTING, SOURCE, good, good)


def test_the_scale_has_the_examples_with_the_same_setting(handlers: Handlers) -> None:
    for layer in (5, 2):
        scorer = EstimeScorer(model="embedded-small", layers=layer)
        summaries, sources = (
            [pair[name] for pair in EXAMPLE_PAIRS] for name in ("summary", "source")
        )
        values = scorer.score(summaries, sources).values("inconsistency")
        drawn = handlers.draw(Setting("embedded-small", layer=layer), SOURCE, "The cat sat.", "")
        places = re.findall(r'demo-(?:faithful|unfaithful)" style="--at:([\d.]+)"', drawn)
        assert [float(place) ** 2 for place in places] == pytest.approx(values.tolist(), abs=1e-5)
        assert f"{values.max():.3f} (unfaithful)" in " ".join(drawn.split())
        own = scorer.explain("The cat sat.", SOURCE).inconsistency
        assert f"Summary <b>{own:.3f}</b>" in drawn


def test_another_language_and_swapped_texts_are_warned_of_each_time(handlers: Handlers) -> None:
    for _ in range(2):
        drawn = handlers.draw(SETTING, GERMAN * 2, GERMAN, "")
        assert "do not seem to be in English" in drawn
        assert drawn.index("English") < drawn.index('class="estime"')
    assert "swapped" in handlers.draw(SETTING, "The cat sat.", SOURCE, "")
    sound = handlers.draw(SETTING, SOURCE, "The cat sat.", "")
    assert "demo-notice" not in sound


def test_data_of_a_pair(handlers: Handlers, scorer: EstimeScorer) -> None:
    summary = "Peter sat on the cat."
    described = json.loads(json.dumps(handlers.describe(SOURCE, summary), allow_nan=False))
    shown = scorer.explain(summary, SOURCE)
    assert described["inconsistency"] == pytest.approx(shown.inconsistency, abs=1e-6)
    assert described["alarms"] == shown.alarms
    assert described["signature"] == scorer.signature
    assert described["warnings"] == []
    words = [(word["word"], word["kind"]) for word in described["words"]]
    assert words[0] == ("Peter", "new word")  # at the beginning, capitals say nothing
    assert [summary[word["start"] : word["end"]] for word in described["words"]] == [
        word for word, _ in words
    ]
    (cat,) = [word for word in described["words"] if word["word"] == "cat"]
    assert (cat["kind"], cat["source_has"], cat["margin"] < 0) == ("alarm", "dog", True)


def test_a_failure_is_told_without_the_text_and_logged_without_it(
    handlers: Handlers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("zebrafinch in a message")

    with caplog.at_level(logging.DEBUG):
        assert "the lone surrogate" in handlers.draw(SETTING, SOURCE, "zebrafinch \ud800", "")
        monkeypatch.setattr(handlers.encoders, "explain", fail)
        drawn = handlers.draw(SETTING, SOURCE, "zebrafinch", "")
    assert "Something went wrong (RuntimeError)" in drawn
    assert "zebrafinch" not in drawn + caplog.text
    assert [
        record.getMessage() for record in caplog.records if record.name.startswith("estime_metric")
    ] == [
        "a request failed with ValueError",
        "a request failed with RuntimeError",
    ]


# Encoders and limits


@pytest.fixture(scope="module")
def encoders(bert_folder: str) -> Encoders:
    return Encoders(["embedded-small", bert_folder, "embedded-small", "no-such/encoder"])


def test_each_is_on_offer_once_and_a_folder_goes_by_its_last_part(
    encoders: Encoders, bert_folder: str
) -> None:
    assert CHOICES[:2] == ("embedded", "embedded-small")
    assert ("bert-large-uncased-whole-word-masking (the paper's)", PAPER_MODEL) in Encoders().labels
    assert encoders.names == ("embedded-small", bert_folder, "no-such/encoder")
    labels = [label for label, _ in encoders.labels]
    assert labels == ["embedded-small (small, in the package)", "bert", "no-such/encoder"]


def test_what_is_not_on_offer_or_cannot_be_loaded_is_refused(
    encoders: Encoders, bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RefusedError, match="not available on this page"):
        encoders.info(f"{bert_folder}/.")
    with pytest.raises(ValueError, match="`unit`"):
        encoders.explain(["x"], "x", Setting("embedded-small", unit="line"))
    with pytest.raises(ValueError, match=r"`layers` to be within 0\.\.6"):
        encoders.explain(["x"], "x", Setting("embedded-small", layer=7))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        RefusedError,
        match="The encoder no-such/encoder cannot be loaded: it is not in the local cache",
    ):
        encoders.info("no-such/encoder")


def test_any_encoder_may_be_named_where_the_host_allows_it(bert_folder: str) -> None:
    encoders = Encoders(["embedded-small"], any_name=True)
    assert encoders.info(bert_folder).name == bert_folder
    assert [name for _, name in encoders.labels] == ["embedded-small"]
    for name in ("", " "):
        with pytest.raises(RefusedError, match="not available on this page"):
            encoders.info(name)


def test_texts_up_to_the_limit_pass_and_longer_ones_are_refused_by_name(bert_folder: str) -> None:
    encoders = Encoders([bert_folder], Limits(max_tokens=10))
    setting = Setting(bert_folder, layer=1)
    assert len(encoders.explain(["a cat"], "a " * 10, setting).explanations) == 1
    for summary, source, message in (
        ("a cat", "a " * 11, r"source has 11 tokens of bert; the limit of this page is 10\."),
        ("a " * 12, "a", "The summary has 12 tokens of bert"),
        (
            "a " * 2500 + "a",
            "a",
            r"summary has 5,001 characters; the limit of this page is 5,000\.",
        ),
        ("a", "a" * 20_001, "The source has 20,001 characters"),
    ):
        with pytest.raises(RefusedError, match=message):
            encoders.explain(["a cat", summary], source, setting)
