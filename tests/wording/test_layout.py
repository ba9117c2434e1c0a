"""Numbers of lists, steps, headings and labels: what is no fact of a text."""

from __future__ import annotations

import pytest

from estime_metric import novelty

SOURCE = "The dog sat on the mat of credit, and it ran to the red, green and blue river in the end."


def new(summary: str, source: str = SOURCE) -> tuple[float, float]:
    values = novelty([summary], [source])
    return values["new_names"][0], values["new_numbers"][0]


LISTS = [
    "The river is red: 1) red, 2) green, and 3) blue.",
    "The river is (1) red; (2) green; and (3) blue",
    "The ends are 1. red 2. green",
    "The ends are: 1. Red 2. Green 3. Blue",
    "Ends 1)red 2)green",
    "Step 1: It ran. Step 2: It sat.",
    "Phase 1: It ran.\nPhase 2: It sat.",
    "First, it ran. Second, it sat. Third, it ran. Fourth, it sat.",
    "The ends: first, red; second, green; and third, blue.",
]


@pytest.mark.parametrize("summary", LISTS)
def test_numerals_of_lists_are_no_numbers_of_a_summary(summary: str) -> None:
    assert new(summary)[1] == 0
    assert set(novelty([summary], [summary])["new_trigrams"]) == {0}


@pytest.mark.parametrize("source", [*LISTS[:3], *LISTS[5:7]])
@pytest.mark.parametrize("summary", ["It sat in step 2.", "2) it sat", "red and green"])
def test_numerals_of_lists_can_be_numbers_of_a_source(summary: str, source: str) -> None:
    assert new(summary, source)[1] == 0


@pytest.mark.parametrize(
    ("summary", "numbers"),
    [
        ("The 3rd and 4th dog", 2),
        ("The dog sat on 1 of 3", 2),
        ("It ran to 2) and 5)", 2),
        ("It sat in sections (1) and (2) of it", 2),
        ("It ran to 1. It sat on 2. It ran", 2),
        ("The second, third dog", 1),
    ],
)
def test_other_numbers_are_numbers(summary: str, numbers: int) -> None:
    assert new(summary)[1] == numbers


@pytest.mark.parametrize(
    "summary",
    [
        "# Executive Summary\n\nThe dog sat.\n\n## Details of Utilization\n\nIt ran.",
        "<h2>Executive Summary</h2>\nThe dog sat.",
        "> ## Paris Falls\n> The dog sat.",
        "1. **Total Utilization**: The dog sat.\n2. **Payment History:** It ran.",
        "**1. Total Utilization**: The dog sat.\n2. Payment History: It ran.",
        "- **Total Credit**: The dog sat.\n* Total End: It ran.",
        "Executive Summary\n\nThe dog sat on the mat.\nFinal Thoughts\nIt ran to the river.",
        "**Key Takeaways from Paris**\nThe dog sat.",
        "TL;DR: The dog sat.",
        "The dog sat.\n\nReferences:\n\n[1] A Smith, B Jones\n\n[2] C Brown\n",
        "The dog sat.\n**Sources:** The Economist and Bob Brown",
    ],
)
def test_headings_and_labels_of_a_summary_name_nothing(summary: str) -> None:
    assert new(summary) == (0, 0)


@pytest.mark.parametrize(
    ("summary", "facts"),
    [
        ("- **Robert Miller**: The dog sat.", (1, 0)),  # only words that the source lacks
        ("## About Miller\n\nThe dog of Miller sat.", (1, 0)),  # in a sentence, too
        ("## 12 Dead in Paris\n\nThe dog sat.", (0, 1)),
        ("The dog ran to:\nAnn Smith\nBob Miller", (2, 0)),
        ("Sources: Ann Smith\n\nThe dog of Bob sat.", (1, 0)),
        ("The dog sat in Paris.", (1, 0)),
    ],
)
def test_other_names_and_numbers_are_new(summary: str, facts: tuple[float, float]) -> None:
    assert new(summary) == facts


def test_a_heading_of_the_source_has_names() -> None:
    assert new("The dog sat in Paris.", f"# Paris\n\n{SOURCE}") == (0, 0)


@pytest.mark.parametrize(
    "before", ["# Short Summary\n\n", "1. **Key Point**: Sure!\n2. **Key Point**: "]
)
def test_an_opening_can_be_behind_a_heading_or_a_label(before: str) -> None:
    assert new(f"{before}Here is a summary in 79 words:\n\nThe dog sat.") == (0, 0)
