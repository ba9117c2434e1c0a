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
    "The ends are: 1. Red 2. Green 3. Blue",
    "Ends 1)red 2)green",
    "Step 1: It ran. Step 2: It sat.",
    "Phase 1: It ran.\nPhase 2: It sat.",
    "First, it ran. Second, it sat. Third, it ran. Fourth, it sat.",
    "The ends: first, red; second, green; and third, blue.",
    "**Key Point 1:** It ran.\n**Key Point 2:** It sat.",
    "Dog 7 - it ran\nDog 8 - it sat",
    "4 / It ran\n5 / It sat",
    "#8 It ran\n#9 It sat",
    "(1/4) It ran\n(2/4) It sat",
    "2.1 It ran\n2.2 It sat",
    "[Dog 3] It ran\n[Dog 4] It sat",
    "Dog 3 It ran\nDog 4 It sat",
    "5. It ran\n  5) to the\n  6) to it\n6. It sat",
    "1. Red 2. Blue, the end.",
]


@pytest.mark.parametrize("summary", LISTS)
def test_numerals_of_lists_are_no_numbers_of_a_summary(summary: str) -> None:
    assert new(summary)[1] == 0
    assert set(novelty([summary], [summary])["new_trigrams"]) == {0}


@pytest.mark.parametrize("source", [*LISTS[:2], *LISTS[4:6]])
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
        ("The ends are 1. red 2. green", 2),
        ("The second, third dog", 1),
        ("Dog lost 3. River won 4.", 2),
        ("3 - 2\n4 - 1", 4),
        ("3 dogs ran", 1),
        ("The dog sat on 3 rivers\nThe dog sat on 4 rivers", 2),
        ("3. It ran\n5. It sat", 2),
        ("See Section 8, Article 50", 2),
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
        ("As Table 3 and Fig. 2 say, the dog of Section 4.1 sat", (0, 0)),
        ("Key 1: Paris fell\nKey 2: It sat", (0, 0)),  # a name begins the sentence
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


def test_parts_of_a_source_that_has_others_are_new() -> None:
    assert new("As Table 3 says, the dog sat", f"{SOURCE} See Table 2.") == (0, 1)
    assert new("As Table 2 says, the dog sat", f"{SOURCE} See Table 2.") == (0, 0)


def test_a_reference_behind_a_sentence_supports_no_number() -> None:
    cited = "".join(f" The dog sat [{number}]." for number in range(1, 9))
    assert new("It ran to 8 rivers.", cited) == (0, 1)
    assert new("It ran to 8 rivers.", cited.replace("[8]", "(8)")) == (0, 0)


def test_a_heading_of_the_source_has_names() -> None:
    assert new("The dog sat in Paris.", f"# Paris\n\n{SOURCE}") == (0, 0)


@pytest.mark.parametrize(
    "before", ["# Short Summary\n\n", "1. **Key Point**: Sure!\n2. **Key Point**: "]
)
def test_an_opening_can_be_behind_a_heading_or_a_label(before: str) -> None:
    assert new(f"{before}Here is a summary in 79 words:\n\nThe dog sat.") == (0, 0)
