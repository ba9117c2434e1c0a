"""Texts in a language that the tokenizer was not made for are detected, at little cost."""

from __future__ import annotations

import pytest
import transformers

from estime_metric import EstimeScorer, embedded
from estime_metric.engine.text.language import foreign_language

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


def test_another_language_is_told_but_not_of_too_little() -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)
    for texts in (GERMAN, CHINESE, RUSSIAN, THAI, ENGLISH[:1] + 4 * GERMAN):
        assert foreign_language(texts, tokenizer)
    assert foreign_language(3 * ENGLISH, tokenizer) == ""
    for texts in (
        ENGLISH,
        ENGLISH[1:2],
        [*ENGLISH, CHINESE[0][:8]],
        ["Brücke"],
        ["", "1,200 !!"],
        [],
    ):
        assert foreign_language(texts, tokenizer) is None


@pytest.mark.skipif(transformers.__version__ < "5", reason="made with transformers 5")
def test_a_vocabulary_of_single_characters_knows_its_script() -> None:
    characters = [chr(0x4E00 + number) for number in range(12_000)]
    vocabulary = {token: number for number, token in enumerate(["[UNK]", *characters])}
    assert (
        foreign_language(
            ["".join(characters[:40])], transformers.BertTokenizerFast(vocab=vocabulary)
        )
        == ""
    )


def test_a_scorer_warns_once() -> None:
    scorer = EstimeScorer(model="embedded-small", device="cpu", layers=1)
    with pytest.warns(
        RuntimeWarning, match="'embedded.*' does not seem to support the language of the summaries"
    ) as caught:
        scorer.score(GERMAN, GERMAN)
    assert caught[0].filename == __file__  # the caller's line
    scorer.score(CHINESE, CHINESE)
    EstimeScorer(scorer.config).score(ENGLISH, ENGLISH)
