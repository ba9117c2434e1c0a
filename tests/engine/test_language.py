"""Texts in another language than the encoder's are noticed, at little cost, and told of at the line
that passed them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import pytest

from estime_metric import EstimeScorer, estime
from tests.test_scorer import Pairs

MODEL = "embedded-small"
ENGLISH = [
    "Kluivert's side won 2-1 on Saturday in Willemstad.",
    "Police in Northumbria have charged a 34-year-old man with the murder of his neighbour in Byker.",
    "The mayor said the bridge would open in spring after two years of work.",
]
FOREIGN = {
    "German": "Der Bürgermeister sagte am Montag, die neue Brücke werde nach zwei Jahren Bauzeit eröffnet.",
    "short German": "Das Unternehmen entlässt zweihundert Mitarbeiter.",
    "short French": "Quatre personnes sont mortes dans un incendie à Lyon.",
    "short Spanish": "El perro duerme en el jardín.",
    "Russian": "мэр сказал",
    "Greek": "μισό",
    "Japanese": "橋を閉鎖した",
    "Korean": "다리 폐쇄",
    "Chinese": "市长周一表示,这座横跨河流的新桥经过两年的施工将于春季开放。",
    "Thai": "นายกรัฐมนตรีกล่าวว่าสะพานใหม่จะเปิดในฤดูใบไม้ผลิ",  # one unknown token, as the next two
    "Lao": "ນາຍົກລັດຖະມົນຕີກ່າວວ່າຂົວໃໝ່ຈະເປີດໃນລະດູໃບໄມ້ປົ່ງ",
    "Khmer": "លោកនាយករដ្ឋមន្ត្រីបានថ្លែងថាស្ពានថ្មីនឹងបើកនៅនិទាឃរដូវ",
    "Burmese": "ဝန်ကြီးချုပ်က တံတားသစ်ကို နွေဦးတွင် ဖွင့်မည်ဟု ပြောကြားခဲ့သည်",
}


@pytest.fixture(scope="module", params=["token", "word"])
def scorer(request: pytest.FixtureRequest) -> EstimeScorer:
    return EstimeScorer(model=MODEL, device="cpu", layers=1, unit=request.param)


def is_noticed(scorer: EstimeScorer, summaries: list[str], sources: list[str]) -> bool:
    return any(
        "in English" in hint for hint in scorer.score_checked(summaries, sources).input_warnings
    )


@pytest.mark.parametrize("language", FOREIGN)
def test_another_language_is_noticed_on_either_side(scorer: EstimeScorer, language: str) -> None:
    text = FOREIGN[language]
    assert is_noticed(scorer, [text], [text])
    assert is_noticed(scorer, [text], ENGLISH[1:2])
    assert is_noticed(scorer, ENGLISH[1:2], [text])


def test_english_and_a_few_names_are_not(scorer: EstimeScorer) -> None:
    mixed = [*ENGLISH, FOREIGN["Chinese"][:8]]
    for texts in (3 * ENGLISH, ENGLISH, ENGLISH[1:2], mixed, ["Brücke"], ["1,200 !!"]):
        assert not is_noticed(scorer, texts, texts)
    assert not is_noticed(scorer, ["", "Müller"], ENGLISH[:2])
    assert not is_noticed(scorer, [], [])


def test_articles_of_summeval_are_not(summeval: Pairs) -> None:
    scorer = EstimeScorer(model=MODEL, device="cpu", layers=0)
    sources = list(dict.fromkeys(source[:400] for _, source in summeval))
    for source in sources[:20]:
        assert not is_noticed(scorer, [source], [source])


@pytest.mark.parametrize(
    "call", ["estime", "score", "score_candidates", "explain", "explain_pairs", "map_batch"]
)
def test_a_call_warns_at_the_line_that_made_it_once(scorer: EstimeScorer, call: str) -> None:
    text = FOREIGN["German"]
    use: Callable[[], object] = {
        "estime": lambda: estime([text], [text], model=MODEL, layers=1, device="cpu"),
        "score": lambda: scorer.score([text], [text]),
        "score_candidates": lambda: scorer.score_candidates([text], text),
        "explain": lambda: scorer.explain(text, text),
        "explain_pairs": lambda: scorer.explain_pairs([text], [text]),
        "map_batch": lambda: scorer.map_batch({"summary": [text], "source": [text]}),
    }[call]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            use()
    (warning,) = caught  # by Python's own filter
    assert re.search(f"do not seem to be in English, .* '{MODEL}'", str(warning.message))
    assert (warning.category, warning.filename) == (RuntimeWarning, __file__)


def test_what_others_tell_of_is_not_warned_of(scorer: EstimeScorer) -> None:
    texts = [FOREIGN["German"], FOREIGN["Chinese"], FOREIGN["German"], ENGLISH[1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = scorer.score_checked(texts, texts)
        explanations, hints = scorer.explain_checked(texts, texts)
        result.explain(0)
    assert list(result.input_warnings.values()) == [3]  # of four pairs
    assert hints == result.input_warnings
    assert len(explanations) == 4


def test_the_language_of_another_encoder_is_not_known(small_folder: str) -> None:
    other = EstimeScorer(model=small_folder, device="cpu", layers=1)
    assert not is_noticed(other, [FOREIGN["German"]], [FOREIGN["German"]])
