"""Texts in another language than the encoder's are noticed and told of at the line that passed them; tables
are not.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import pytest

from estime_metric import EstimeScorer, estime
from estime_metric.wording.language import is_foreign
from tests.test_scorer import Pairs

MODEL = "embedded-small"
ENGLISH = [
    "Kluivert's side won 2-1 on Saturday in Willemstad.",
    "Police in Northumbria have charged a 34-year-old man with the murder of his neighbour in Byker.",
    "The mayor said the bridge would open in spring after two years of work.",
]
GERMAN = (
    "Der Bürgermeister sagte am Montag, die neue Brücke werde nach zwei Jahren Bauzeit eröffnet."
)
CHINESE = "市长周一表示,这座横跨河流的新桥经过两年的施工将于春季开放。"
FOREIGN = [
    GERMAN,
    "Das Unternehmen entlässt zweihundert Mitarbeiter.",
    "Quatre personnes sont mortes dans un incendie à Lyon.",
    "El perro duerme en el jardín.",
    "La polizia ha arrestato tre sospettati di aver rapinato una gioielleria nella notte.",
    "O presidente da câmara disse que a nova ponte abrirá na primavera após dois anos de obras.",
    "De burgemeester zei maandag dat de nieuwe brug na twee jaar bouwen opengaat.",
    "Polisen grep tre misstänkta för ett inbrott i en juvelerarbutik under natten.",
    "Burmistrz powiedział w poniedziałek, że nowy most zostanie otwarty po dwóch latach prac.",
    CHINESE,
    "мэр сказал",  # in other scripts, however short
    "μισό",
    "橋を閉鎖した",
    "다리 폐쇄",
    "นายกรัฐมนตรีกล่าวว่าสะพานใหม่จะเปิดในฤดูใบไม้ผลิ",
    "លោកនាយករដ្ឋមន្ត្រីបានថ្លែងថាស្ពានថ្មីនឹងបើកនៅនិទាឃរដូវ",
]
TABLES = [
    "| Player | Team | MIN | PTS |\n|---|---|---|---|\n| Kyle Lowry | Toronto | 38 | 24 |\n| DeMar DeRozan | Toronto | 36 | 21 |",
    "PLAYER,TEAM,MIN,PTS\nKyle Lowry,Toronto,38,24\nDeMar DeRozan,Toronto,36,21",
    '[{"player": "Kyle Lowry", "minutes": 38, "points": 24}, {"player": "DeMar DeRozan", "minutes": 36}]',
    "PLAYER TEAM MIN PTS\nKyle Lowry Toronto 38 24\nDeMar DeRozan Toronto 36 21\nSerge Ibaka Toronto 30 15",
    "Kyle Lowry (Toronto): 38 minutes, 24 points\nDeMar DeRozan (Toronto): 36 minutes, 21 points",
    "name[The Eagle], eatType[coffee shop], food[French], area[riverside], near[Burger King]",
    'Aarhus_Airport | cityServed | "Aarhus, Denmark"\nAarhus_Airport | location | Tirstrup',
]


@pytest.mark.parametrize("text", FOREIGN)
def test_another_language_is_noticed(text: str) -> None:
    assert is_foreign(text)


@pytest.mark.parametrize(
    "text", [*ENGLISH, *TABLES, "", "Brücke", "Müller", "1,200 !!", "Beşiktaş", "Drei neue Brücken"]
)
def test_english_and_tables_and_a_few_names_are_not(text: str) -> None:
    assert not is_foreign(text)


def test_articles_of_summeval_are_not(summeval: Pairs) -> None:
    assert not any(is_foreign(text) for pair in summeval for text in pair)


@pytest.fixture(scope="module")
def scorer() -> EstimeScorer:
    return EstimeScorer(model=MODEL, device="cpu", layers=1)


def test_half_of_the_pairs_have_to_be_in_another_language_on_either_side(
    scorer: EstimeScorer,
) -> None:
    def pairs_of(summaries: list[str], sources: list[str]) -> list[int]:
        return list(scorer.score_checked(summaries, sources).input_warnings.values())

    english = ENGLISH[1]
    assert pairs_of([GERMAN, english], [english, english]) == [1]
    assert pairs_of([english, english], [english, CHINESE]) == [1]
    assert pairs_of([GERMAN, *ENGLISH[1:]], 3 * [ENGLISH[1]]) == []
    assert pairs_of([], []) == []
    # a headline has no function words, nor has a list of names
    article = f"{ENGLISH[0]} {ENGLISH[1]}"
    headlines = ["Apple unveils new iPhone, shares jump", "Mayor says new bridge opens next spring"]
    assert all(map(is_foreign, headlines))
    assert pairs_of(headlines, [article, article]) == []
    assert (
        pairs_of(["мэр сказал"], [article])
        == pairs_of(headlines[:1], [f"{GERMAN} {GERMAN}"])
        == [1]
    )


@pytest.mark.parametrize(
    "call", ["estime", "score", "score_candidates", "explain", "explain_pairs", "map_batch"]
)
def test_a_call_warns_at_the_line_that_made_it_once(scorer: EstimeScorer, call: str) -> None:
    text = GERMAN
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
    texts = [GERMAN, CHINESE, GERMAN, ENGLISH[1]]
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
    assert not other.score_checked([GERMAN], [GERMAN]).input_warnings
