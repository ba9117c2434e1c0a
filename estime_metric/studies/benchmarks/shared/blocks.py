"""Columns of scores, and blocks of them that are computed together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from estime_metric.table.arrays import Floats

#: Sections of the tables, in order: what is computed, scores that were read from files, and scores
#: that come with the data.
REFERENCE_FREE, REFERENCE_BASED, TRIVIAL = "Reference-free", "Reference-based", "Trivial"
OWN, PUBLISHED = "From files", "Published"
SECTIONS = (REFERENCE_FREE, REFERENCE_BASED, TRIVIAL, OWN)

#: Name of a column -> its scores, float64 of shape (summaries,).
ColumnValues = Mapping[str, Floats]


@dataclass(frozen=True)
class ScoreColumn:
    """A column of scores, and its row in the tables.

    Attributes:
        name: identifies the column, also in files.
        label: what the row is called in tables, with ``(-)`` in front if ``lower_is_better``.
        section: one of `SECTIONS`, or `PUBLISHED`.
        lower_is_better: whether the scores are negated before anything is computed from them.
        measure, layer, blocks: of a measure of ESTIME: its name in `estime_metric.measures`, the
            layer, and how many blocks its encoder has; otherwise ``None``.
        setting: what differs in a second setting of ESTIME, such as ``"distance 8"``.
        main: whether the row is in the main tables; if not, it is only in the table of layers.
    """

    name: str
    label: str
    section: str
    lower_is_better: bool = False
    measure: str | None = None
    layer: int | None = None
    blocks: int | None = None
    setting: str = ""
    main: bool = True


class Prepared(NamedTuple):
    """A block that is ready to compute: its ``signature`` (equal signatures, equal scores), and
    ``compute``: data -> the scores of each of the block's columns.
    """

    signature: str
    compute: Callable[[Any], ColumnValues]


@dataclass(frozen=True)
class Block:
    """Columns of scores that are computed together.

    Attributes:
        name: for the screen.
        columns: what is computed.
        prepare: loads what the scores need.
        notes: data -> sentences that belong below the tables.
    """

    name: str
    columns: tuple[ScoreColumn, ...]
    prepare: Callable[[], Prepared]
    notes: Callable[[Any], tuple[str, ...]] = lambda _: ()
