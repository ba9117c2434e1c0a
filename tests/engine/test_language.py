"""Summaries in another language than the encoder's are noticed, at little cost."""

from __future__ import annotations

import warnings

import pytest
import transformers

from estime_metric import EstimeScorer, embedded
from estime_metric.engine.language import is_foreign

ENGLISH = [
    "Kluivert's side won 2-1 on Saturday in Willemstad.",
    "Police in Northumbria have charged a 34-year-old man with the murder of his neighbour in Byker.",
    "The mayor said the bridge would open in spring after two years of work.",
]
GERMAN = [
    "Der Bürgermeister sagte am Montag, die neue Brücke werde nach zwei Jahren Bauzeit eröffnet.",
    "Forscher haben eine bislang unbekannte Schmetterlingsart entdeckt.",
]
CHINESE = ["市长周一表示,这座横跨河流的新桥经过两年的施工将于春季开放。"]
RUSSIAN, THAI = ["мэр сказал " * 5], ["นายกเทศมนตรี " * 20]


def test_another_language_is_noticed_but_not_of_too_little() -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)
    for texts in (GERMAN, CHINESE, RUSSIAN, THAI, ENGLISH[:1] + 4 * GERMAN):
        assert is_foreign(texts, tokenizer)
    for texts in (
        3 * ENGLISH,
        ENGLISH,
        ENGLISH[1:2],
        [*ENGLISH, CHINESE[0][:8]],
        ["Brücke"],
        ["", "1,200 !!"],
        [],
    ):
        assert not is_foreign(texts, tokenizer)


def test_each_call_with_a_bundled_encoder_warns() -> None:
    scorer = EstimeScorer(model="embedded-small", device="cpu", layers=1)
    for use in (scorer.score, scorer.explain_pairs):
        for texts in (GERMAN, CHINESE):
            with pytest.warns(
                RuntimeWarning, match="do not seem to be in English, .* 'embedded-small'"
            ) as caught:
                use(texts, texts)
            assert caught[0].filename == __file__  # the caller's line
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for texts in (GERMAN, CHINESE, GERMAN):
            scorer.score(texts, texts)
    assert len(shown) == 1  # by Python's own filter
    scorer.score(ENGLISH, ENGLISH)


def test_the_language_of_another_encoder_is_not_known(small_folder: str) -> None:
    EstimeScorer(model=small_folder, device="cpu", layers=1).score(GERMAN, GERMAN)
