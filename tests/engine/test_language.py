"""Texts that the encoder's vocabulary was not made for are told by how they are cut."""

from __future__ import annotations

import warnings

import pytest
import transformers

from estime_metric import EstimeScorer, embedded
from estime_metric.engine.language import foreign_language

ENGLISH = [
    "Kluivert's side won 2-1 on Saturday in Willemstad.",
    "Police in Northumbria have charged a 34-year-old man with the murder of his neighbour in Byker.",
    "The mayor said the bridge would open in spring after two years of work.",
]
GERMAN = [
    "Der B\u00fcrgermeister sagte am Montag, die neue Br\u00fccke werde nach zwei Jahren Bauzeit er\u00f6ffnet.",
    "Forscher haben eine bislang unbekannte Schmetterlingsart entdeckt.",
]
CHINESE = [
    "\u5e02\u957f\u5468\u4e00\u8868\u793a,\u8fd9\u5ea7\u6a2a\u8de8\u6cb3\u6d41\u7684\u65b0\u6865\u7ecf"
    "\u8fc7\u4e24\u5e74\u7684\u65bd\u5de5\u5c06\u4e8e\u6625\u5b63\u5f00\u653e\u3002"
]
RUSSIAN = ["\u043c\u044d\u0440 \u0441\u043a\u0430\u0437\u0430\u043b " * 5]
THAI = ["\u0e19\u0e32\u0e22\u0e01\u0e40\u0e17\u0e28\u0e21\u0e19\u0e15\u0e23\u0e35 " * 20]


@pytest.fixture(scope="module")
def tokenizer() -> transformers.PreTrainedTokenizerFast:
    return transformers.AutoTokenizer.from_pretrained(embedded.SMALL)


@pytest.mark.parametrize("texts", [GERMAN, CHINESE, RUSSIAN, THAI, ENGLISH[:1] + 4 * GERMAN])
def test_another_language_is_told(texts: list[str], tokenizer: transformers.PreTrainedTokenizerFast) -> None:
    assert foreign_language(texts, tokenizer) is not None


@pytest.mark.parametrize(
    "texts", [ENGLISH, ENGLISH[1:2], [*ENGLISH, CHINESE[0][:8]], ["Br\u00fccke"], ["", "1,200 !!"], []]
)
def test_english_and_too_little_are_not(texts: list[str], tokenizer: transformers.PreTrainedTokenizerFast) -> None:
    assert foreign_language(texts, tokenizer) is None


def test_a_vocabulary_of_single_characters_knows_its_script() -> None:
    characters = [chr(0x4E00 + number) for number in range(12_000)]
    vocabulary = {token: number for number, token in enumerate(["[UNK]", *characters])}
    model = transformers.BertTokenizerFast(vocab=vocabulary) if transformers.__version__ >= "5" else None
    if model is None:
        pytest.skip("made with transformers 5")
    assert foreign_language(["".join(characters[:40])], model) is None


def test_a_scorer_warns_once() -> None:
    scorer = EstimeScorer(model="embedded-small", device="cpu", layers=1)
    with pytest.warns(RuntimeWarning, match="'embedded.*' does not seem to know the language of the summaries"):
        scorer.score(GERMAN, GERMAN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scorer.score(CHINESE, CHINESE)
        EstimeScorer(scorer.config).score(ENGLISH, ENGLISH)
