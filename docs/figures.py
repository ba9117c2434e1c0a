"""Draws the figures of docs/measures.md with the real code: ``python docs/figures.py [FOLDER]``."""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path

from estime_metric import EstimeScorer
from estime_metric.engine.masking import plan_token_windows

INK, GREY, LINE, MASK, GOOD, BAD = "#1f2937", "#6b7280", "#d1d5db", "#4f46e5", "#059669", "#dc2626"

SOURCE = "Anna bought the red boat. Peter sold the old house."
SUMMARY = "Peter bought the red boat."


class Drawing:
    """SVG elements on a white card."""

    def __init__(self, title: str, width: float, height: float) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
            f'font-family="Helvetica, Arial, sans-serif"><title>{escape(title)}</title>',
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#ffffff"/>',
        ]

    def text(
        self,
        x: float,
        y: float,
        text: str,
        color: str = INK,
        size: float = 14,
        anchor: str = "start",
    ) -> None:
        """Writes a line of text."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{color}" text-anchor="{anchor}">'
            f"{escape(text)}</text>"
        )

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, edge: str = "none"
    ) -> None:
        """Draws a cell."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2" fill="{fill}" stroke="{edge}"/>'
        )

    def curve(
        self,
        x: float,
        y: float,
        to_x: float,
        to_y: float,
        color: str,
        width: float,
        dashes: str = "",
    ) -> None:
        """Draws a line from one point down to another."""
        middle = (y + to_y) / 2
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<path d="M{x:g} {y:g} C{x:g} {middle:g} {to_x:g} {middle:g} {to_x:g} {to_y:g}" fill="none" '
            f'stroke="{color}" stroke-width="{width:g}"{dashed}/>'
        )

    def save(self, path: Path) -> None:
        """Writes the file."""
        path.write_text("\n".join([*self.parts, "</svg>"]) + "\n", encoding="utf-8")


def schedule(length: int = 40, window: int = 24, margin: int = 4, distance: int = 6) -> Drawing:
    """A row for each window that the paper's schedule opens over a short text."""
    windows = plan_token_windows(
        length, range(length), window=window, margin=margin, distance=distance
    )
    cell, left, top, row = 17, 92, 66, 25
    drawing = Drawing(
        "The masking schedule", left + length * cell + 20, top + len(windows) * row + 44
    )
    drawing.text(
        16,
        26,
        f"{length} tokens in windows of {window}, margin {margin}, distance {distance}",
        size=16,
    )
    drawing.text(
        16,
        48,
        "Each row is one input of the encoder. Every token is masked in exactly one of them.",
        GREY,
        13,
    )
    for number, shown_window in enumerate(windows):
        y = top + number * row
        drawing.text(left - 10, y + 14, f"window {number + 1}", GREY, 12, "end")
        for token in range(shown_window.start, shown_window.stop):
            masked = token in shown_window.masked
            drawing.box(
                left + token * cell + 1,
                y,
                cell - 2,
                19,
                MASK if masked else "#eef2ff",
                "none" if masked else LINE,
            )
    y = top + len(windows) * row + 18
    for x, color, label in (
        (left, MASK, "masked, and read here"),
        (left + 200, "#eef2ff", "seen as context"),
    ):
        drawing.box(x, y - 11, cell - 2, 14, color, LINE)
        drawing.text(x + 24, y, label, GREY, 12)
    return drawing


def match() -> Drawing:
    """A summary above its source: what each token's best match is, and where the same token occurs."""
    shown = EstimeScorer().explain(SUMMARY, SOURCE)
    size, gap, top, bottom = 19, 10, 96, 250

    def spread(
        text: str, spans: list[tuple[int, int]], left: float
    ) -> dict[tuple[int, int], float]:
        middles = {}
        for start, end in spans:
            width = 0.56 * size * (end - start)
            middles[start, end] = left + width / 2
            left += width + gap
        return middles

    source_spans = _words(SOURCE)
    above = spread(SUMMARY, [(unit.start, unit.end) for unit in shown.units], 150)
    below = spread(SOURCE, source_spans, 24)
    drawing = Drawing("A match and an alarm", 720, 325)
    drawing.text(
        24,
        30,
        "Each token of the summary finds the source token whose masked embedding is most alike",
        size=16,
    )
    drawing.text(
        24,
        54,
        "green: the same token.  red: another one, an alarm; dashed: the same token elsewhere.",
        GREY,
        13,
    )
    for unit in shown.units:
        x = above[unit.start, unit.end]
        color = {"match": GOOD, "alarm": BAD}.get(unit.verdict, GREY)
        drawing.text(x, top, SUMMARY[unit.start : unit.end], color, size, "middle")
        if unit.verdict == "alarm" and unit.same is not None:
            drawing.curve(
                x, top + 7, below[unit.same.start, unit.same.end], bottom - 20, GREY, 1.2, "4 4"
            )
        if unit.best is not None and unit.verdict != "absent":
            width = 2.4 if unit.verdict == "alarm" else 1.2
            drawing.curve(
                x, top + 7, below[unit.best.start, unit.best.end], bottom - 20, color, width
            )
    for (start, end), x in below.items():
        drawing.text(x, bottom, SOURCE[start:end], INK, size, "middle")
    drawing.text(24, top, "summary", GREY, 13)
    drawing.text(24, bottom + 22, "source", GREY, 13)
    mismatches = [
        f"“{SUMMARY[unit.start : unit.end]}” in place of “{SOURCE[unit.best.start : unit.best.end]}”"
        for unit in shown.units
        if unit.verdict == "alarm" and unit.best is not None
    ]
    drawing.text(
        24,
        bottom + 54,
        f"alarms: {shown.alarms} of {shown.overlap} tokens checked ({'; '.join(mismatches)})",
    )
    return drawing


def _words(text: str) -> list[tuple[int, int]]:
    """Spans of the words and full stops of a plain English text."""
    spans, start = [], 0
    for index, character in enumerate(text + " "):
        if not character.isalnum():
            if start < index:
                spans.append((start, index))
            if not character.isspace():
                spans.append((index, index + 1))
            start = index + 1
    return spans


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "images")
    folder = parser.parse_args().folder
    schedule().save(folder / "schedule.svg")
    match().save(folder / "match.svg")


if __name__ == "__main__":
    main()
