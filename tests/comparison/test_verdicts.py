"""When a winner is declared, and how it reads."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from estime_metric import EstimeScorer
from estime_metric.comparison import (
    RULE,
    compare_results,
    notes,
    to_rows,
    to_tables,
    verdict_sentences,
)
from estime_metric.comparison.wording import LISTED, all_verdicts
from estime_metric.measures import MEASURES
from estime_metric.report.tables import to_latex, to_markdown
from tests.comparison.tables import compared, table

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
    comparison = compare_results(copied, other, names=["copy", name])
    assert comparison.winner("copy", name) == "copy"
    for measure in MEASURES:
        if measure in comparison.tests:
            assert comparison.vote(measure, "copy", name).favors != name


def test_one_word_of_the_source_wins_against_nobody(scorer: EstimeScorer) -> None:
    word = scorer.score(["bridge"] * len(SOURCES), SOURCES)
    freely = scorer.score(
        ["Councillors agreed that the old crossing will shut."] * len(SOURCES), SOURCES
    )
    assert word.mean("inconsistency") < freely.mean("inconsistency")
    assert compare_results(word, freely).winner("A", "B") is None


@pytest.mark.parametrize(
    ("second", "winner", "sentence"),
    [
        (
            system(HIGH, MANY),
            "A",
            "A is better than B (inconsistency 0.2250 and 0.3250, p 0.00049; alarms agree)",
        ),
        (
            system(HIGH, [0] * 12),
            None,
            "no verdict on A and B: inconsistency favors A (p 0.00049), alarms favor B (p 0.00049): one of "
            "them copies more; look at explain and at copied",
        ),
        (
            system(HIGH, FEW[::-1]),
            None,
            "no verdict on A and B: inconsistency favors A (p 0.00049), alarms do not differ "
            "significantly (p 1); look at explain and at copied",
        ),
        (
            system(LOW, MANY),
            None,
            "no verdict on A and B: inconsistency does not differ significantly (p 1), alarms favor A (p "
            "0.00049); look at explain and at copied",
        ),
        (
            system(LOW[::-1], FEW),
            None,
            "no significant difference between A and B (inconsistency p 1; alarms p 1)",
        ),
        (
            system(HIGH, [0] * 12, coverage=0.16),
            "A",
            "A is better than B (inconsistency 0.2250 and 0.3250, p 0.00049; alarms say nothing, because only "
            "16% of the tokens of B were checked)",
        ),
        (
            system(HIGH, [0] * 12, coverage=0.6),
            "A",
            "A is better than B (inconsistency 0.2250 and 0.3250, p 0.00049; alarms say nothing, because 90% of "
            "the tokens of A and 60% of the tokens of B were checked)",
        ),
        (
            system([1] * 12, [0] * 12, tokens=[0] * 12),
            "A",
            "A is better than B (inconsistency 0.2250 and 1.0000, p 0.00049; alarms say nothing, because 12 of "
            "12 summaries of B are blank)",
        ),
        (
            system(LOW, [0] * 12, coverage=0.2),
            None,
            "no significant difference between A and B (inconsistency p 1; alarms say nothing, because "
            "only 20% of the tokens of B were checked)",
        ),
        (
            system([0.02] * 12, [0] * 12, tokens=4),
            None,
            "no verdict on A and B: inconsistency says nothing, because B has 4.0 tokens per summary and A "
            "20.0",
        ),
        (
            system(HIGH, [0] * 12, tokens=4),
            "A",
            "A is better than B (inconsistency 0.2250 and 0.3250, p 0.00049; alarms say nothing, because B "
            "has 4.0 tokens per summary and A 20.0)",
        ),
        (
            system([None] * 12, FEW),
            None,
            "no significant difference between A and B (inconsistency p undefined; alarms p 1)",
        ),
    ],
)
def test_the_rule_and_how_it_reads(second: Any, winner: str | None, sentence: str) -> None:
    comparison = compared(system(LOW, FEW), second)
    assert comparison.winner("A", "B") == comparison.winner("B", "A") == winner
    assert verdict_sentences(comparison, "A", "B", advice=True) == [sentence]
    assert notes(comparison, advice=True)[0] == f"{sentence}."
    row = to_rows(comparison)[0]
    assert (row["winner"], row["verdict"]) == (
        winner,
        sentence.split("; look at")[0].split(": one")[0],
    )


@pytest.mark.parametrize(
    ("measure", "b", "favors", "sentence"),
    [
        ("alarms", {"alarms": MANY}, "A", "A is better than B (alarms 1.50 and 3.50, p 0.00049)"),
        (
            "soft",
            {"soft": [0.9, 0.8] * 6},
            "B",
            "B is better than A (soft 0.8500 and 0.5000, p 0.00049)",
        ),
        (
            "alarms",
            {"alarms": [0] * 12, "coverage": 0.2},
            None,
            "no verdict on A and B: alarms say nothing, because only 20% of the tokens of B were checked",
        ),
        (
            "unsupported",
            {"unsupported": [0] * 12, "tokens": [0] * 7 + [9] * 5},
            None,
            "no verdict on A and B: unsupported says nothing, because 7 of 12 summaries of B are blank",
        ),
        (
            "alarms",
            {"alarms": FEW[::-1]},
            None,
            "no significant difference between A and B (alarms p 1)",
        ),
    ],
)
def test_any_measure_is_compared_by_itself(
    measure: str, b: dict[str, Any], favors: str | None, sentence: str
) -> None:
    own: dict[str, Any] = {"alarms": FEW, "soft": [0.5] * 12, "unsupported": FEW}
    known = {"tokens": 20, "coverage": 0.9}
    comparison = compared(table(**known, **own), table(**{**known, **own, **b}), measures=measure)
    assert comparison.vote(measure, "A", "B").favors == comparison.winner("A", "B") == favors
    assert verdict_sentences(comparison, "A", "B") == [sentence]


def test_one_source_is_no_verdict_and_unequal_means_look_unequal() -> None:
    a, b = system([0.33332], [1]), system([0.33331], [1])
    assert verdict_sentences(compared(a, b), "A", "B") == [
        "no verdict on A and B from one source: inconsistency is lower for B (0.33331 and 0.33332), alarms "
        "are equal (1.00 and 1.00)"
    ]


def test_the_rule_is_applied_to_each_layer() -> None:
    names = [f"{name}_layer{layer}" for layer in (3, 4) for name in RULE]
    a = table(**dict(zip(names, [LOW, FEW, LOW, FEW], strict=True)))
    b = table(**dict(zip(names, [HIGH, MANY, HIGH, FEW], strict=True)))
    comparison = compared(a, b)
    assert [verdict.winner for verdict in comparison.verdicts("A", "B")] == ["A", None]


def test_p_values_of_each_measure_are_corrected_for_the_pairs() -> None:
    """Six examples give p = .031, which three pairs of systems turn into .094."""
    a, b = system(LOW[:6], FEW[:6]), system(HIGH[:6], MANY[:6])
    assert compared(a, b).winner("A", "B") == "A"
    comparison = compared(a, b, a)
    assert comparison.winner("A", "B") is None
    assert {test.p_holm for test in comparison.tests["alarms"].values()} == {0.09375, 1}


def test_of_many_verdicts_the_first_are_listed() -> None:
    comparison = compared(system(LOW, FEW), system(HIGH, MANY))
    many = {("A", "B"): comparison.tests["alarms"]["A", "B"]}
    tests = {f"alarms_layer{layer}": many for layer in range(LISTED + 2)}
    sentences = all_verdicts(dataclasses.replace(comparison, tests=tests))
    assert len(sentences) == LISTED + 1
    assert sentences[-1] == "2 more verdicts are not listed"


def test_files_have_notes_on_the_data_only() -> None:
    """The readers of a paper cannot act on advice."""
    a, b = system(LOW, FEW, id=[*range(12)]), system(HIGH, [0] * 12, id=[*range(12)])
    comparison = compared(*(side.drop(columns="source") for side in (a, b)), id_column="id")
    for text in map(
        "".join, zip(*((to_markdown(t), to_latex(t)) for t in to_tables(comparison)), strict=True)
    ):
        assert "no verdict on A and B: inconsistency favors A" in text
        assert "look at" not in text
        assert "source-column" not in text
        assert "To be safe" not in text
    assert any("--source-column" in note for note in notes(comparison, advice=True))


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
