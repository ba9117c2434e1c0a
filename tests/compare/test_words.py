"""Which differences are significant, when a measure cannot compare two systems, and how both read."""

from __future__ import annotations

from typing import Any

import pytest

from estime_metric import EstimeScorer
from estime_metric.compare import (
    compare_results,
    notes,
    sentences,
    to_rows,
)
from estime_metric.compare.words import LISTED
from estime_metric.measures import MEASURES
from tests.compare.tables import compared, table

TOWNS = [
    "Bath",
    "York",
    "Leeds",
    "Derby",
    "Truro",
    "Wells",
    "Ely",
    "Ripon",
    "Oxford",
    "Durham",
    "Hull",
    "Exeter",
    "Lincoln",
    "Carlisle",
    "Chester",
    "Lancaster",
    "Norwich",
    "Salford",
    "Bristol",
    "Worcester",
]
SOURCES = [
    f"The council of {town} voted {votes} to {votes - 4} to close the old bridge. Work starts in May."
    for town in TOWNS
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


@pytest.fixture(scope="module")
def scorer() -> EstimeScorer:
    return EstimeScorer()


@pytest.mark.parametrize("name", LOSERS)
def test_what_must_lose_loses(scorer: EstimeScorer, name: str) -> None:
    copied = scorer.score([source.split(". ")[0] + "." for source in SOURCES], SOURCES)
    other = scorer.score([LOSERS[name]] * len(SOURCES), SOURCES)
    compared = [
        measure for measure in copied.measures if MEASURES[measure].higher_is_better is False
    ]
    pairs = compare_results(copied, other, names=["copy", name], measures=compared).pairs
    better = dict(zip(pairs["measure"], pairs["better"], strict=True))
    assert better["inconsistency"] == "copy"
    assert name not in better.values()


def test_one_word_of_the_source_wins_against_nobody(scorer: EstimeScorer) -> None:
    word = scorer.score(["bridge"] * len(SOURCES), SOURCES)
    freely = scorer.score(
        ["Councillors agreed that the old crossing will shut."] * len(SOURCES), SOURCES
    )
    assert word.mean("inconsistency") < freely.mean("inconsistency")
    assert set(compare_results(word, freely).pairs["better"]) == {None}


@pytest.mark.parametrize(
    ("measure", "b", "better", "sentence"),
    [
        (
            "inconsistency",
            {"inconsistency": HIGH},
            "A",
            "A has lower inconsistency than B (0.2250 and 0.3250, p 0.00049).",
        ),
        (
            "soft",
            {"soft": [0.9, 0.8] * 6},
            "B",
            "B has higher soft than A (0.8500 and 0.5000, p 0.00049).",
        ),
        (
            "inconsistency",
            {"inconsistency": LOW[::-1]},
            None,
            "A and B do not differ significantly in inconsistency (0.2250 and 0.2250, p 1).",
        ),
        (
            "inconsistency",
            {"inconsistency": [None] * 12},
            None,
            "A and B do not differ significantly in inconsistency (– and –, p undefined).",
        ),
        (
            "alarms",
            {"alarms": [0] * 12, "coverage": 0.16},
            None,
            "alarms cannot compare A and B, because only 16% of the tokens of B were checked.",
        ),
        (
            "alarms",
            {"alarms": [0] * 12, "coverage": 0.6},
            None,
            "alarms cannot compare A and B, because 90% of the tokens of A and 60% of the tokens of B "
            "were checked.",
        ),
        (
            "unsupported",
            {"unsupported": [0] * 12, "tokens": [0] * 7 + [9] * 5},
            None,
            "unsupported cannot compare A and B, because 7 of 12 summaries of B are blank.",
        ),
        (
            "inconsistency",
            {"inconsistency": [0.02] * 12, "tokens": 4},
            None,
            "inconsistency cannot compare A and B, because B has 4.0 tokens per summary and A 20.0.",
        ),
        (
            "inconsistency",
            {"inconsistency": HIGH, "tokens": 4},
            "A",
            "A has lower inconsistency than B (0.2250 and 0.3250, p 0.00049).",
        ),
        (
            "alarms",
            {"alarms": [0] * 12, "tokens": 4},
            None,
            "alarms cannot compare A and B, because B has 4.0 tokens per summary and A 20.0.",
        ),
    ],
)
def test_a_difference_in_one_sentence(
    measure: str, b: dict[str, Any], better: str | None, sentence: str
) -> None:
    a: dict[str, Any] = {"soft": 0.5, "unsupported": FEW, "inconsistency": LOW, "alarms": FEW}
    comparison = compared(system(**a), system(**{**a, **b}), measures=measure)
    (row,) = to_rows(comparison)
    assert row["better"] == better
    assert bool(row["why_not"]) == ("cannot compare" in sentence)
    assert sentences(comparison) == [[sentence]]
    assert notes(comparison)[0].startswith(sentence)


@pytest.mark.parametrize(
    ("densities", "expected"),
    [
        (
            (26.8, 14.1),
            [
                "A copies runs 1.9 times as long: 27 and 14 words.",
                "Such a difference agreed with people in 17 of 33 cases on SummEval (ratio of at most 2), "
                "about chance.",
            ],
        ),
        (
            (26.8, 3.14),
            [
                "A copies runs 8.5 times as long: 27 and 3.1 words.",
                "Such a difference agreed with people in 62 of 63 cases on SummEval (ratio above 2).",
            ],
        ),
        (
            (3.1, 26.8),
            [
                "B copies runs 8.6 times as long: 27 and 3.1 words.",
                "Such a difference agreed with people in 17 of 33 cases on SummEval (ratio of at most 2), "
                "about chance.",
            ],
        ),
        (
            (0.0, 9.9),
            [
                "B and A copy runs of 9.9 and 0 words.",
                "Such a difference agreed with people in 17 of 33 cases on SummEval (ratio of at most 2), "
                "about chance.",
            ],
        ),
    ],
)
def test_copying_and_what_the_study_found_at_that_ratio(
    densities: tuple[float, float], expected: list[str]
) -> None:
    """The ratio is that of the system with the lower inconsistency, A, to the other."""
    a, b = (
        system(values, FEW, copied_density=density)
        for values, density in zip((LOW, HIGH), densities, strict=True)
    )
    assert sentences(compared(a, b))[0][1:] == expected
    assert len(sentences(compared(a, b, measures="alarms"))[0]) == 2  # not in the study
    alike = system(LOW, FEW, copied_density=densities[1])
    assert len(sentences(compared(a, alike))[0]) == 2  # not significant


def test_each_sentence_is_said_once() -> None:
    systems = [
        system([value + number / 10 for value in LOW], FEW, copied_density=5.0)
        for number in range(4)
    ]
    said = notes(compared(*systems))
    assert len(said) == len(set(said))
    assert sum("agreed with people" in line for line in said) == 1


def test_one_source_shows_a_difference_and_no_significance() -> None:
    """Unequal means look unequal."""
    a, b = system([0.33332], [1]), system([0.33331], [1])
    (lines,) = sentences(compared(a, b))
    assert lines == [
        "B has lower inconsistency than A (0.33331 and 0.33332); one source cannot show whether the "
        "difference is more than chance."
    ]


def test_p_values_of_each_measure_are_corrected_for_the_pairs() -> None:
    """Six examples give p = .031, which three pairs of systems turn into .094."""
    a, b = system(LOW[:6], FEW[:6]), system(HIGH[:6], MANY[:6])
    assert set(compared(a, b).pairs["better"]) == {"A"}
    comparison = compared(a, b, a)
    assert set(comparison.pairs["better"]) == {None}
    assert set(comparison.pairs["p_holm"]) == {0.09375, 1}


def test_of_many_pairs_the_first_are_listed() -> None:
    systems = [system([value + number / 10 for value in LOW], FEW) for number in range(7)]
    listed = notes(compared(*systems))
    assert sum("lower inconsistency" in note for note in listed) == LISTED
    assert f"{21 - LISTED} more pairs of systems are not listed." in listed


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
    assert "All examples have the same source, so there are no intervals" in noted(["x", "x"])
    assert "There is only one example, so there are no intervals" in noted(["x"])
    assert "alarms: 1 of 3 examples are excluded" in noted(["x", "y", "z"], [1, None, 2])
