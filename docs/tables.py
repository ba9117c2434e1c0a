"""Writes the tables of docs/measures.md: ``python docs/tables.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from estime_metric.measures import BASE_MEASURES, MEASURES, Measure

PAGE = Path(__file__).with_name("measures.md")

#: Name of a table, which is between two comments with this name -> its measures.
TABLES = {
    "in every row": BASE_MEASURES,
    "on request": tuple(name for name in MEASURES if name not in BASE_MEASURES),
}


def row(measure: Measure) -> str:
    """The line of a measure."""
    high = f"`{measure.high}`" if isinstance(measure.high, str) else measure.high
    span = f"{measure.low:g} and up" if high is None else f"{measure.low:g} to {high}"
    better = {True: ", higher", False: ", lower", None: ""}[measure.higher_is_better]
    return f"| `{measure.name}` | {span}{better} | {measure.meaning} |\n"


def table(names: Iterable[str]) -> str:
    """The table of some measures."""
    head = "| measure | range, better | meaning |\n|---|---|---|\n"
    return head + "".join(row(MEASURES[name]) for name in names)


def generated(text: str) -> str:
    """The text of the page with its tables as they are now; ValueError if one is missing."""
    for name, measures in TABLES.items():
        mark = f"<!-- {name} -->\n"
        pieces = text.split(mark)
        if len(pieces) != 3:
            raise ValueError(f"Expected the page to have two lines {mark.strip()!r}.")
        text = f"{pieces[0]}{mark}{table(measures)}{mark}{pieces[2]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(generated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
