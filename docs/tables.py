"""Writes the tables of measures into docs/measures.md, from the registry: ``python docs/tables.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from estime_metric.measures import BASE_MEASURES, FURTHER_MEASURES, MEASURES, Measure

PAGE = Path(__file__).with_name("measures.md")

#: Name of a table -> the measures in it. The page has a table between two comments with its name.
TABLES = {"every result": BASE_MEASURES, "on request": FURTHER_MEASURES}

HEAD = "| measure | range | better | meaning |\n|---|---|---|---|\n"


def row(measure: Measure) -> str:
    """The line of a measure."""
    high = f"`{measure.high}`" if isinstance(measure.high, str) else measure.high
    span = f"{measure.low:g} and up" if high is None else f"{measure.low:g} to {high}"
    better = {True: "higher", False: "lower", None: ""}[measure.higher_is_better]
    return f"| `{measure.name}` | {span} | {better} | {measure.meaning} |\n".replace("|  |", "| |")


def table(names: Iterable[str]) -> str:
    """The table of some measures."""
    return HEAD + "".join(row(MEASURES[name]) for name in names)


def with_tables(page: str) -> str:
    """The text of the page with its tables as the registry has them; ValueError if one is missing."""
    for name, measures in TABLES.items():
        mark = f"<!-- {name} -->\n"
        parts = page.split(mark)
        if len(parts) != 3:
            raise ValueError(f"Expected {PAGE.name} to have two lines {mark.strip()!r}.")
        page = f"{parts[0]}{mark}{table(measures)}{mark}{parts[2]}"
    return page


def main() -> None:
    """Rewrites the page."""
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
