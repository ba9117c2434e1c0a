"""Flagged words beside marked ones: by hand, and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from estime_metric.explanation import Evidence, Explanation, UnitVerdict
from estime_metric.studies.aggrefact.words import average_precision, judged_words, locate, signals

VERDICT = {"m": "match", "a": "alarm", "-": "absent"}


def explained(text: str, verdicts: str, margins: list[float]) -> Explanation:
    """Words of one text with a verdict each; the best similarity is 10 throughout."""
    units, cursor, left = [], 0, iter(margins)
    for word, verdict in zip(text.split(), verdicts, strict=True):
        start = text.index(word, cursor)
        cursor = start + len(word)
        margin = None if verdict == "-" else next(left)
        units.append(UnitVerdict(start, cursor, VERDICT[verdict], Evidence(0, 1, 10.0), None, margin))
    return Explanation(text, "x", tuple(units), "word", 1, "signature")


def test_signals_by_hand() -> None:
    explanations = [
        explained("Anna sold red boats today", "aamm-", [-4.0, -1.0, 2.0, 3.0]),
        explained("Peter slept well", "m-a", [1.0, -2.0]),
    ]
    words = judged_words(explanations, [["Anna", "boats", "today"], []])
    found = signals(words)
    alarms, absent, both = (found[name] for name in ("alarms", "absent", "both"))
    assert (alarms["words"], alarms["flagged"], alarms["precision"], alarms["recall"]) == (6, 3, 1 / 3, 1 / 3)
    assert alarms["lift"] == pytest.approx((1 / 3) / (2 / 6))
    assert alarms["average_precision"] == pytest.approx((1 / 1 + 2 / 6) / 2)  # Anna -4, well -2, sold -1, 1, 2, boats 3
    assert (absent["words"], absent["flagged"], absent["precision"]) == (8, 2, 1 / 2)
    assert absent["lift"] == pytest.approx(8 / 6)
    assert absent["average_precision"] == pytest.approx((1 * 1 / 2 + 2 * 3 / 8) / 3)  # ties: two, then six words
    assert (both["flagged"], both["precision"], both["recall"], both["f1"]) == (5, 2 / 5, 2 / 3, 2 * 2 / (5 + 3))
    assert both["average_precision"] == pytest.approx((1 / 2 + 2 / 3 + 3 / 8) / 3)
    assert words["margin"][:4].tolist() == [-0.4, -0.1, 0.2, 0.3]
    assert np.isnan(words["margin"][4])
    nothing = signals(words[:0])["alarms"]
    assert nothing["flagged"] == 0
    assert np.isnan(nothing["precision"])


def test_spans_are_found_in_order_as_whole_words() -> None:
    text = "three in thirty-three, then three ( 656 ft ) of art in parts"
    places = locate(text, ["then", "three", "art", "no such", "( 656 ft )", "thirt"])
    assert [text[start:end] for start, end in places] == ["then", "three", "art", "( 656 ft )", "thirt"]
    assert places[1] == (28, 33)
    assert places[2][0] == text.index("art in")
    assert judged_words([explained("par part", "mm", [1.0, 1.0])], [["part"]])["marked"].tolist() == [False, True]
    with pytest.raises(ValueError, match="`spans` to have one entry for each of 1 explanations, but got 0"):
        judged_words([explained("a", "m", [1.0])], [])


def test_average_precision_is_that_of_a_plain_loop_where_nothing_is_tied() -> None:
    rng = np.random.default_rng(3)
    scores, marked = rng.permutation(50).astype(float), rng.random(50) < 0.3
    ranked = marked[np.argsort(-scores)]
    expected = np.mean([ranked[: rank + 1].mean() for rank in range(50) if ranked[rank]])
    assert average_precision(marked, scores) == pytest.approx(expected)
    assert average_precision(marked, np.zeros(50)) == pytest.approx(marked.mean())
