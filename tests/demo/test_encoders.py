"""The encoders on offer, and the limits of one request."""

from __future__ import annotations

import pytest

from estime_metric import EstimeScorer
from estime_metric.config import PAPER_MODEL
from estime_metric.demo.encoders import CHOICES, Encoders, Setting
from estime_metric.demo.limits import TOKENS, WORK, Limits, RefusedError

SOURCE = "The cat sat on the mat while the dog slept. The council voted to close the old bridge."
SUMMARIES = ["The dog sat on the mat.", "The council closed the cat."]


@pytest.fixture(scope="module")
def encoders(bert_folder: str) -> Encoders:
    return Encoders(["embedded-small", bert_folder, "embedded-small", "no-such/encoder"])


def test_each_is_on_offer_once_and_a_folder_goes_by_its_last_part(encoders: Encoders, bert_folder: str) -> None:
    assert CHOICES[:2] == ("embedded-small", "embedded")
    assert ("bert-large-uncased-whole-word-masking (the paper's)", PAPER_MODEL) in Encoders().labels
    assert encoders.names == ("embedded-small", bert_folder, "no-such/encoder")
    labels = [label for label, _ in encoders.labels]
    assert labels == ["embedded-small (small, in the package)", "bert", "no-such/encoder"]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["token", "word"])
@pytest.mark.parametrize("layer", [1, 5])
def test_explanations_are_those_of_a_scorer_of_that_layer(encoders: Encoders, unit: str, layer: int) -> None:
    scorer = EstimeScorer(model="embedded-small", unit=unit, layers=layer)
    for _ in range(2):  # the second time the source's embeddings are cached
        explanations = encoders.explain(SUMMARIES, SOURCE, Setting("embedded-small", unit, layer))
        for explanation, summary in zip(explanations, SUMMARIES, strict=True):
            expected = scorer.explain(summary, SOURCE)
            assert explanation.signature == expected.signature == scorer.signature
            found, wanted = (
                [(word.start, word.end, word.verdict) for word in one.words] for one in (explanation, expected)
            )
            assert found == wanted


def test_what_is_not_on_offer_or_cannot_be_loaded_is_refused(
    encoders: Encoders, bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RefusedError, match="not on offer"):
        encoders.info(f"{bert_folder}/.")
    with pytest.raises(ValueError, match="`unit`"):
        encoders.explain(["x"], "x", Setting("embedded-small", "line", 1))
    with pytest.raises(ValueError, match=r"`layers` to lie within 0\.\.6"):
        encoders.explain(["x"], "x", Setting("embedded-small", "token", 7))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(RefusedError, match="The encoder no-such/encoder cannot be loaded here"):
        encoders.info("no-such/encoder")


def test_any_encoder_may_be_named_where_the_host_allows_it(bert_folder: str) -> None:
    encoders = Encoders(["embedded-small"], any_name=True)
    assert encoders.info(bert_folder).name == bert_folder
    assert [name for _, name in encoders.labels] == ["embedded-small"]
    for offered, name in ((encoders, ""), (encoders, " "), (Encoders(["embedded-small"]), bert_folder)):
        with pytest.raises(RefusedError, match="not on offer"):
            offered.info(name)


def test_a_text_of_too_many_tokens_is_refused(bert_folder: str) -> None:
    encoders = Encoders([bert_folder], Limits(max_tokens=10))
    name = Setting(bert_folder, "token", 1)
    assert len(encoders.explain(["a cat"], "a " * 10, name)) == 1
    with pytest.raises(RefusedError, match=r"The source has 11 tokens; with bert this page takes up to 10\."):
        encoders.explain(["a cat"], "a " * 11, name)
    with pytest.raises(RefusedError, match="The summary has 12 tokens"):
        encoders.explain(["a cat", "a " * 12], "a", name)
    with pytest.raises(ValueError, match="lone surrogate"):
        encoders.explain(["a \ud800"], "a", name)


def test_texts_up_to_the_limit_pass_and_longer_ones_are_refused_by_name() -> None:
    limits = Limits(max_source_chars=10, max_summary_chars=5)
    limits.check_pair("x" * 10, "y" * 5)
    limits.check_pair("", "")
    with pytest.raises(RefusedError, match="The source has 11 characters; this page takes up to 10"):
        limits.check_pair("x" * 11, "")
    said = r"The summary has 1,006 characters; this page takes up to 5\. .*`estime demo --max-summary-chars` raises"
    with pytest.raises(RefusedError, match=said) as refused:
        limits.check_pair("", "secret" + "y" * 1000)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("blocks", "width"), [(1, 8), (6, 384), (12, 768), (24, 1024), (48, 1600)])
def test_no_encoder_is_given_more_work_than_the_limit(blocks: int, width: int) -> None:
    most = Limits().tokens_for(blocks, width)
    assert most <= TOKENS
    assert most * blocks * width**2 <= WORK
    assert most > 0
    assert Limits(max_tokens=10**6).tokens_for(blocks, width) == 10**6  # raised by whoever starts the page
