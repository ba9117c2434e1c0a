"""The encoders on offer."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from estime_metric import EstimeScorer
from estime_metric.demo.encoders import CHOICES, Encoders, Setting
from estime_metric.demo.limits import Limits, RefusedError

SOURCE = "The cat sat on the mat while the dog slept. The council voted to close the old bridge."
SUMMARIES = ["The dog sat on the mat.", "The council closed the cat."]


@pytest.fixture(scope="module")
def encoders(bert_folder: str) -> Encoders:
    return Encoders(["embedded", bert_folder, "embedded", "no-such/encoder"])


def test_the_one_in_the_package_comes_first_and_the_papers_is_on_offer() -> None:
    assert CHOICES[0] == "embedded"
    assert "bert-large-uncased-whole-word-masking" in CHOICES
    assert dict(Encoders().labels)["bert-large-uncased-whole-word-masking (the paper's)"] == CHOICES[2]


def test_each_is_on_offer_once_and_a_folder_goes_by_its_last_part(encoders: Encoders, bert_folder: str) -> None:
    assert encoders.names == ("embedded", bert_folder, "no-such/encoder")
    assert [label for label, _ in encoders.labels] == ["embedded (small, in the package)", "bert", "no-such/encoder"]


@pytest.mark.parametrize("unit", ["token", "word"])
@pytest.mark.parametrize("layer", [1, 5])
def test_explanations_are_those_of_a_scorer_of_that_layer(encoders: Encoders, unit: str, layer: int) -> None:
    scorer = EstimeScorer(model="embedded", unit=unit, layers=layer)
    for _ in range(2):  # the second time the source's embeddings are at hand
        explanations = encoders.explain(SUMMARIES, SOURCE, Setting("embedded", unit, layer))
        for explanation, summary in zip(explanations, SUMMARIES, strict=True):
            expected = scorer.explain(summary, SOURCE)
            assert explanation.signature == expected.signature == scorer.signature
            assert [(word.start, word.end, word.verdict) for word in explanation.words] == [
                (word.start, word.end, word.verdict) for word in expected.words
            ]
            assert explanation.alarms == expected.alarms


def test_a_scorer_for_a_file_reads_one_layer(encoders: Encoders) -> None:
    scorer = encoders.one_layer(Setting("embedded", "word", 3))
    assert scorer.signature == EstimeScorer(model="embedded", unit="word", layers=3).signature


def test_what_is_not_on_offer_is_refused(encoders: Encoders, bert_folder: str) -> None:
    with pytest.raises(RefusedError, match="not on offer"):
        encoders.info(f"{bert_folder}/.")
    with pytest.raises(ValueError, match="`unit`"):
        encoders.explain(["x"], "x", Setting("embedded", "line", 1))
    with pytest.raises(ValueError, match=r"`layers` to lie within 0\.\.6"):
        encoders.explain(["x"], "x", Setting("embedded", "token", 7))


def test_one_that_cannot_be_had_is_refused(encoders: Encoders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(RefusedError, match="The encoder no-such/encoder cannot be had here"):
        encoders.info("no-such/encoder")


def test_a_text_of_too_many_tokens_is_refused(bert_folder: str) -> None:
    encoders = Encoders([bert_folder], Limits(tokens=10))
    name = Setting(bert_folder, "token", 1)
    assert len(encoders.explain(["a cat"], "a " * 10, name)) == 1
    with pytest.raises(RefusedError, match=r"The source has 11 tokens; .* takes up to 10"):
        encoders.explain(["a cat"], "a " * 11, name)
    with pytest.raises(RefusedError, match="The summary has 12 tokens"):
        encoders.explain(["a cat", "a " * 12], "a", name)
    with pytest.raises(ValueError, match="lone surrogate"):
        encoders.explain(["a \ud800"], "a", name)


def test_the_others_go_on_while_one_is_loaded(encoders: Encoders, bert_folder: str) -> None:
    done = threading.Event()
    setting = Setting("embedded", "token", 1)

    def explain() -> None:
        encoders.explain(SUMMARIES, SOURCE, setting)
        done.set()

    with encoders._loading[bert_folder]:  # as it is held while a large encoder comes from the Hub
        threading.Thread(target=explain, daemon=True).start()
        assert done.wait(timeout=120)


def test_only_the_first_and_the_last_used_are_held(encoder_folder) -> None:  # type: ignore[no-untyped-def]
    first, second, third = (encoder_folder(family) for family in ("bert", "roberta", "electra"))
    encoders = Encoders([first, second, third])
    for name in (first, second):
        encoders.info(name)
    held = [weakref.ref(encoders._scorer(name, "word").encoder) for name in (first, second)]
    encoders.info(third)
    gc.collect()
    assert held[0]() is not None
    assert held[1]() is None
