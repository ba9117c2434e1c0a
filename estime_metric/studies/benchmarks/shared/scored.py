"""Measures -> one frame with the scores of every summary, kept in a folder from which an interrupted
run can be resumed; and the tidy tables that statistics make of it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

import numpy as np
import pandas as pd
from tqdm import tqdm

from estime_metric._version import __version__
from estime_metric.measures import PAPER_MEASURE
from estime_metric.studies.benchmarks.shared.blocks import Block, ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Data
from estime_metric.studies.columns import KEY
from estime_metric.studies.meta.grid import Grid
from estime_metric.table.arrays import Floats
from estime_metric.table.table import record_of, write

SCORES = "scores.csv"


@dataclass
class Scored(Generic[Data]):
    """The scores of every measure that could be computed.

    Attributes:
        data: the summaries.
        columns: all measures that were requested.
        frame: the table of the data, and a column of scores for each computed measure, nothing negated.
        signatures, problems, notes: by block: how its scores came about, why it could not be
            computed, and what a reader has to know of it.
        reused: the blocks whose scores come from an earlier run.
        progress: whether `analyzed` shows a bar.
    """

    data: Data
    columns: tuple[ScoreColumn, ...] = ()
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    signatures: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reused: list[str] = field(default_factory=list)
    progress: bool = False

    @property
    def known(self) -> list[ScoreColumn]:
        """The measures that were computed."""
        return [column for column in self.columns if column.name in self.frame]

    def analyzed(self) -> Iterator[ScoreColumn]:
        """The measures that were computed, with a bar on stderr if there is ``progress`` to show."""
        return iter(tqdm(self.known, desc="intervals", unit="measure", disable=not self.progress))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Lines for below the tables: signatures, what has to be known of some scores, and what
        failed.
        """
        return (
            *(f"{name}: {signature}" for name, signature in self.signatures.items()),
            *(note for notes in self.notes.values() for note in notes),
            *(f"{name}: failed. {reason}" for name, reason in self.problems.items()),
        )

    def rival_of(self, column: ScoreColumn) -> ScoreColumn | None:
        """What a measure is compared with: the same measure in the first setting of ESTIME, in the
        same layer if it is there, or alarms if only a second setting has the measure. For any other
        measure, the first measure of ESTIME.
        """
        first = [
            rival for rival in self.known if rival.measure and rival.main and not rival.setting
        ]
        if not column.setting:
            return next(iter(first), None)

        def distance(rival: ScoreColumn) -> tuple[bool, ...]:
            names = (rival.measure != name for name in (column.measure, PAPER_MEASURE))
            return (*names, rival.layer != column.layer)

        return min(first, key=distance, default=None)

    def oriented(self, column: ScoreColumn) -> Floats:
        """The scores of each summary, higher is better; float64 of shape (summaries,)."""
        values: Floats = self.frame[column.name].to_numpy(dtype=np.float64)
        return 0.0 - values if column.lower_is_better else values  # no minus zero

    def grid(self, column: ScoreColumn, judged: str, among: ScoreColumn | None = None) -> Grid:
        """Scores and the judgements in the column ``judged`` of the frame, which has every document
        by every system: (documents, systems), for the documents with a score of every system. If
        ``among`` is given, these documents have one of that measure for every system as well.
        """
        documents, systems = self.data.documents, self.data.systems
        judgements, values, others = (
            numbers.reshape(len(documents), len(systems))
            for numbers in (
                self.frame[judged].to_numpy(dtype=np.float64),
                self.oriented(column),
                self.oriented(among or column),
            )
        )
        known = np.isfinite(values + others).all(axis=1)
        return Grid(
            tuple(np.array(documents, dtype=object)[known]),
            tuple(systems),
            values[known],
            judgements[known],
            column.label,
            judged,
        )

    def gaps(self, judged: str) -> tuple[str, ...]:
        """Lines for below the tables on measures that lack a score of every system in some documents,
        or in all.
        """
        every = len(self.data.documents)
        counts = {column.label: len(self.grid(column, judged).documents) for column in self.known}
        empty = [label for label, count in counts.items() if not count]
        fewer = [f"{label} ({count})" for label, count in counts.items() if 0 < count < every]
        notes = {
            "Empty, because no document has a score of every system": empty,
            f"On fewer than the {every} documents, those with a score of every system": fewer,
        }
        return tuple(f"{what}: {', '.join(labels)}." for what, labels in notes.items() if labels)

    def tidy(
        self,
        rows: Sequence[Mapping[str, Any]],
        numbers: Sequence[str],
        **keys: Iterable[str],
    ) -> pd.DataFrame:
        """A tidy table: a row for each requested measure and each combination of the ``keys``, in
        front its name (``column``), label (``measure``) and ``section``. What no row of ``rows``
        (``column``, the keys, ``numbers``) has is NaN.
        """
        table = pd.DataFrame(
            [(column.name, column.label, column.section) for column in self.columns],
            columns=["column", "measure", "section"],
        )
        for name, values in keys.items():
            table = table.merge(pd.DataFrame({name: list(values)}), how="cross")
        known = pd.DataFrame(rows, columns=["column", *keys, *numbers])
        return table.merge(known, how="left", on=["column", *keys])

    def save(self, folder: Path) -> None:
        """Writes ``scores.csv`` and its record, which says what they are."""
        measures = {
            column.name: {"label": column.label, "lower_is_better": column.lower_is_better}
            for column in self.known
        }
        record = {
            "version": __version__,
            "data": self.data.origin,
            "digest": self.data.digest,
            "signatures": self.signatures,
            "problems": self.problems,
            "measures": measures,
        }
        scores = self.frame[[*KEY, *measures]]
        named = scores.rename(columns=dict(zip(KEY, self.data.key_names, strict=True)))
        write(folder / SCORES, named.to_dict("records"), record)  # floats to the last bit


def score(
    data: Data,
    blocks: Sequence[Block],
    *,
    folder: Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> Scored[Data]:
    """Computes all blocks of ``data``, one after the other.

    A block that lacks a package or an encoder is noted in ``Scored.problems``; the others are
    computed. The scores are written to ``folder`` after each block; with ``resume``, those in it
    that were made of the same data with the same signature are reused. ``progress``: the
    name of each block on stderr. Raises ValueError for ``resume`` with a folder that does not have readable
    scores of this data.
    """
    columns = tuple(column for block in blocks for column in block.columns)
    scored = Scored(data, columns, data.table, progress=progress)
    if resume and folder is not None:
        _load(scored, folder, [block.name for block in blocks])
    for block in blocks:
        names = [column.name for column in block.columns]
        earlier = scored.signatures.pop(block.name, None)
        try:
            prepared = block.prepare()
            if prepared.signature == earlier and set(names) <= set(scored.frame):
                scored.reused.append(block.name)
                values: Mapping[str, Any] = scored.frame
            else:
                if progress:
                    tqdm.write(block.name, file=sys.stderr)
                values = prepared.compute(data)
        except (ImportError, OSError, ValueError) as error:
            scored.frame = scored.frame.drop(columns=names, errors="ignore")
            scored.problems[block.name] = " ".join(str(error).split())
            continue
        numbers = {name: np.asarray(values[name], dtype=np.float64) for name in names}
        scored.frame = scored.frame.assign(**numbers)
        scored.signatures[block.name] = prepared.signature
        scored.notes[block.name] = block.notes(data)
        if folder is not None:
            scored.save(folder)
    return scored


def _load(scored: Scored[Data], folder: Path, blocks: Collection[str]) -> None:
    """Reads what an earlier run left of some blocks; what is not used again is replaced."""
    path, data = folder / SCORES, scored.data
    if not path.is_file():
        return
    try:
        record = record_of(path)
        # As text first, because some versions of pandas do not read floats to the last bit.
        table = pd.read_csv(path, dtype=object)[[*record["measures"]]].astype(np.float64)
        digest, signatures = record["digest"], dict(record["signatures"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"Expected {folder} to contain the scores of an earlier run, but got {error!r}."
        ) from error
    if digest != data.digest or len(table) != len(data):
        raise ValueError(
            f"Expected {folder} to contain scores of this data ({data.digest}), but they are of "
            f"{record.get('data')} ({digest}). Omit --resume or choose another folder."
        )
    wanted = table.columns.intersection([column.name for column in scored.columns])
    scored.frame = scored.frame.assign(**{name: table[name] for name in wanted})
    scored.signatures = {name: text for name, text in signatures.items() if name in blocks}


def with_paper(frame: pd.DataFrame, paper: pd.DataFrame, on: Sequence[str] = ()) -> pd.DataFrame:
    """A tidy table with the figures that a paper prints next to ours, and below it the rows that only
    the paper has.

    Args:
        frame: has ``measure`` and the columns ``on``; ``[FILE]`` at the end of a measure from a file
            does not count.
        paper: has ``measure``, the columns ``on`` and figures under other names than ours; also
            columns of ours, such as ``section``, for the rows that only the paper has.
    """
    figures = paper.drop(columns=frame.columns.difference(["measure", *on]), errors="ignore")
    printed = frame["measure"].str.replace(r" \[[^\[]*\]$", "", regex=True)
    joined = frame.assign(printed=printed).merge(
        figures.rename(columns={"measure": "printed"}), how="left", on=["printed", *on]
    )
    keys = ["measure", *on]
    shown = pd.MultiIndex.from_frame(frame.assign(measure=printed)[keys])
    alone = paper[~pd.MultiIndex.from_frame(paper[keys]).isin(shown)]
    return pd.concat([joined.drop(columns="printed"), alone], ignore_index=True)
