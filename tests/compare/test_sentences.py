"""Which differences are significant, when a measure cannot compare two systems, and how both read."""

from __future__ import annotations

from typing import Any

import pytest

from estime_metric import EstimeScorer
from estime_metric.compare import notes, to_rows
from estime_metric.compare.sentences import LISTED
from estime_metric.measures import MEASURES
from tests.compare.tables import compared, table

SOURCES = [
    f"The council of {town} voted {votes} to {votes - 4} to close the old bridge. Work starts in May."
    for town in (
        "Bath",
        "York",
        "Leeds",
        "Derby",
        "Truro",
        "Wells",
        "Ely",
        "Ripon",
        "Oxford",
        "Hull",
    )
    for votes in (10, 12)
]
#: Systems that must lose against one that copies the first sentence.
LOSERS = {
    "blank": "",
    "invents everything": "Aliens visited Kansas twice.",
    "invents everything but one word": "Aliens visited the bridge twice in Kansas yesterday.",
    "one word of the source": "bridge",
}

LOW, HIGH = [0.2, 0.25] * 6, [0.3, 0.35] * 6  # of inconsistency
FEW, MANY = [1, 2] * 6, [3, 4] * 6  # alarms


def system(inconsistency: list[Any], alarms: list[int], **further: Any) -> Any:
    columns = {"tokens": 20, "coverage": 0.9, **further}
    return table(inconsistency=inconsistency, alarms=alarms, **columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSERS)
def test_what_must_lose_loses(name: str) -> None:
    scorer = EstimeScorer()
    copied = scorer.score([source.split(". ")[0] + "." for source in SOURCES], SOURCES)
    other = scorer.score([LOSERS[name]] * len(SOURCES), SOURCES)
    measures = [
        measure for measure in copied.measures if MEASURES[measure].higher_is_better is False
    ]
    pairs = compared(copied.table(), other.table(), measures=measures).pairs
    better = dict(zip(pairs["measure"], pairs["better_score"], strict=True))
    assert better["inconsistency"] == "A"
    assert "B" not in better.values()


@pytest.mark.parametrize(
    ("measure", "b", "better", "why_not"),
    [
        ("inconsistency", {"inconsistency": HIGH}, "A", ""),
        ("soft", {"soft": [0.9, 0.8] * 6}, "B", ""),
        ("inconsistency", {"inconsistency": LOW[::-1]}, None, ""),
        ("inconsistency", {"inconsistency": [None] * 12}, None, ""),
        (
            "alarms",
            {"alarms": [0] * 12, "coverage": 0.16},
            None,
            "only 16% of the tokens of B were checked",
        ),
        (
            "alarms",
            {"alarms": [0] * 12, "coverage": 0.6},
            None,
            "90% of the tokens of A and 60% of the tokens of B were checked",
        ),
        (
            "unsupported",
            {"unsupported": [0] * 12, "tokens": [0] * 7 + [9] * 5},
            None,
            "7 of 12 summaries of B are blank",
        ),
        (
            "inconsistency",
            {"inconsistency": [0.02] * 12, "tokens": 4},
            None,
            "12 of 12 summaries of B have less than a third of the words of the other system's",
        ),
        ("inconsistency", {"inconsistency": HIGH, "tokens": 4}, "A", ""),
        (
            "alarms",
            {"alarms": [0] * 12, "tokens": 4},
            None,
            "12 of 12 summaries of B have less than a third of the words of the other system's",
        ),
    ],
)
def test_when_a_difference_is_significant_and_when_a_measure_cannot_compare(
    measure: str, b: dict[str, Any], better: str | None, why_not: str
) -> None:
    a: dict[str, Any] = {"soft": 0.5, "unsupported": FEW, "inconsistency": LOW, "alarms": FEW}
    comparison = compared(system(**a), system(**{**a, **b}), measures=measure)
    (row,) = to_rows(comparison)
    assert (row["better_score"], row["why_not"]) == (better, why_not)
    said = f"{measure} cannot compare A and B, because {why_not}."
    assert (said in notes(comparison)) == bool(why_not)


def test_agreement_with_people_is_one_line_for_all_pairs() -> None:
    """Of significant differences in inconsistency, which the study is about."""

    def lines(*systems: Any, measures: str = "inconsistency,alarms") -> int:
        return sum("people agreed" in line for line in notes(compared(*systems, measures=measures)))

    systems = [
        system([value + number / 10 for value in LOW], FEW, copied_density=5.0)
        for number in range(4)
    ]
    assert lines(*systems) == 1
    assert lines(*systems, measures="alarms") == lines(systems[0], systems[0]) == 0


def test_p_values_of_each_measure_are_corrected_for_the_pairs() -> None:
    """Six examples give p = .031, which three pairs of systems turn into .094."""
    a, b = system(LOW[:6], FEW[:6]), system(HIGH[:6], MANY[:6])
    assert set(compared(a, b).pairs["better_score"]) == {"A"}
    comparison = compared(a, b, a)
    assert set(comparison.pairs["better_score"]) == {None}
    assert set(comparison.pairs["p_holm"]) == {0.09375, 1}


def test_of_many_reasons_the_first_are_listed() -> None:
    systems = [system(LOW, FEW, coverage=0.1) for _ in range(7)]
    listed = notes(compared(*systems, measures="alarms"))
    assert sum("alarms cannot compare" in note for note in listed) == LISTED
    assert f"{21 - LISTED} more such pairs are not listed." in listed


def test_what_limits_the_numbers_is_noted() -> None:
    def noted(sources: list[str], b: list[float] | None = None) -> str:
        values = [float(number % 5) for number in range(len(sources))]
        a = table(alarms=values, source=sources)
        return "\n".join(notes(compared(a, a.assign(alarms=b or [v + 1 for v in values]))))

    assert "independent" not in noted([str(number) for number in range(40)])
    assert "The 80 examples have 40 different sources." in noted([str(n // 2) for n in range(80)])
    few = noted([str(number // 16) for number in range(80)])
    assert "There are only 5 different sources." in few
    assert "alarms: only 5 of 5 sources differ; significance needs at least 6." in few
    one = noted(["x", "x"])
    assert "All examples have the same source, so there are no intervals" in one
    assert "independent" not in one
    assert "There is only one example, so there are no intervals" in noted(["x"])
    assert "alarms: 1 of 3 examples are excluded" in noted(["x", "y", "z"], [1, None, 2])
