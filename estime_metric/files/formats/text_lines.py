"""Plain text with one text per line, as in the input of sacrebleu and COMET."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from estime_metric.files.formats.encodings import is_decoded, opened_text
from estime_metric.files.layout import Layout
from estime_metric.files.lines import Line

TEXT = "text"  # the one column


def read(path: Path, layout: Layout) -> Iterator[Line]:
    r"""The lines of a file, also blank ones, in the column `TEXT`.

    Only ``\n`` ends a line, with or without ``\r`` before it; other characters that are line ends
    in Unicode belong to the text. Raises as `opened`.
    """
    with opened_text(path, layout, newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            if is_decoded(line):
                yield Line(path, number, {TEXT: line.removesuffix("\n").removesuffix("\r")})
            else:
                encoding = layout.encoding or "UTF-8"
                yield Line(path, number, problem=f"is not {encoding}; set `encoding`")
