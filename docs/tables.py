"""Writes the tables of docs/measures.md: ``python docs/tables.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from estime_metric.measures import BASE_MEASURES, MEASURES, Measure

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


#: Page -> name of a generated part -> what is in it. The part is between two comments with its name.
PAGES = {
    "measures.md": {
        "in every row": lambda: table(BASE_MEASURES),
        "on request": lambda: table([name for name in MEASURES if name not in BASE_MEASURES]),
    },
}


def generated(page: str, text: str) -> str:
    """The text of the page with its generated parts as they are now; ValueError if one is missing."""
    for name, part in PAGES[page].items():
        mark = f"<!-- {name} -->\n"
        pieces = text.split(mark)
        if len(pieces) != 3:
            raise ValueError(f"Expected {page} to have two lines {mark.strip()!r}.")
        text = f"{pieces[0]}{mark}{part()}{mark}{pieces[2]}"
    return text


def main() -> None:
    """Rewrites the pages."""
    for page in PAGES:
        path = Path(__file__).with_name(page)
        path.write_text(generated(page, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
