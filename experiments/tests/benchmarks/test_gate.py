"""Systems of which is known whether they are equal."""

from __future__ import annotations

import pandas as pd

from experiments.benchmarks.gate import copying, needed, stops, verdict

PAIRS = pd.DataFrame({"better": [0, 1], "worse": [2, 3]})
SCORES = pd.DataFrame(
    {"inconsistency": [0.1, 0.2, 0.5, 0.6], "copied_density": 1.0, "tokens": 9.0}
).assign(signature="ESTIME|")


def test_a_system_with_a_part_of_worse_summaries_is_stopped_and_an_equal_one_hardly_ever() -> None:
    worse = [verdict(PAIRS, SCORES, part=0.9, size=100, seed=seed) for seed in range(5)]
    assert worse == ["worse"] * 5
    equal = [verdict(PAIRS, SCORES, part=0.0, size=100, seed=seed) for seed in range(20)]
    assert set(equal) <= {"passed", "worse"}  # 2.5% are expected to be called worse
    assert equal.count("worse") <= 2


def test_a_kind_that_stops_a_real_system_is_counted_once_and_those_of_columns_for_each_column() -> (
    None
):
    documents = [*range(10)] * 2
    summaries = pd.DataFrame(
        {
            "system": ["whole"] * 10 + ["cut"] * 10,
            "document": documents,
            "source": [f"Ann sold bridge {number}." for number in documents],
            "summary": [f"Ann sold bridge {number}." for number in range(10)] + ["Ann."] * 10,
            "judgement": [*range(10), *[100] * 10],
            "published: ROUGE": 0.5,
        }
    )
    rows = pd.DataFrame(stops(summaries))
    assert rows[rows["stopped"]]["kind"].tolist() == [
        "are one text",
        "have less than a third of the words of the other system's",
        "have a value of a column far better than all of the other system's",
        "have one and the same value of a column",
    ]
    assert rows["kind"].value_counts().unique().tolist() == [4, 2]


def test_the_number_of_summaries_that_show_a_difference() -> None:
    """The differences 1, 0, -1 have the deviation 1, of which 2.8 are needed: 2.8^2 / .01^2."""
    table = pd.DataFrame({"data": "x", "document": [1, 2, 3] * 2, "system": list("aaabbb")})
    assert needed(table, pd.Series([1.0, 1, 1, 2, 1, 0])).loc["x"].tolist() == [78489, 8721]


def test_a_system_that_copies_more_is_stopped_also_if_people_prefer_it() -> None:
    documents = list(map(str, range(12)))
    plain, copied = (
        SCORES.iloc[[0] * 12].assign(
            system=name,
            document=documents,
            source_id=documents,
            judgement=judged,
            copied_density=runs,
        )
        for name, judged, runs in (("plain", 1.0, 2.0), ("copied", 5.0, 9.0))
    )
    rows = list(copying(pd.concat([plain, copied])))
    assert sorted(rows, key=str) == [
        {"new is": "better", "stopped": True},
        {"new is": "worse", "stopped": False},
    ]
