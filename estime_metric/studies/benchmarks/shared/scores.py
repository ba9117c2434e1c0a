"""Blocks of columns -> the scores of every summary, kept in a folder from which an interrupted run
can be resumed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

import numpy as np
import pandas as pd
from tqdm import tqdm

from estime_metric._version import __version__
from estime_metric.measures import PAPER_MEASURE
from estime_metric.studies.benchmarks.shared.blocks import (
    Advance,
    Block,
    ColumnValues,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import KEY, Data, Summaries
from estime_metric.studies.meta.grid import Grid
from estime_metric.table.arrays import Floats
from estime_metric.table.output import write_text

SCORES, RUN = "scores.csv", "run.json"


@dataclass
class Scores(Generic[Data]):
    """The scores of every column that could be computed.

    Attributes:
        data: the summaries.
        columns: all columns that were requested.
        values: name of a column -> float64 of shape (summaries,).
        signatures, problems, notes: by block: how its scores came about, why it could not be
            computed, and what a reader has to know of it.
        reused: the blocks whose scores come from an earlier run.
        progress: whether `analyzed` shows a bar.
    """

    data: Data
    columns: tuple[ScoreColumn, ...] = ()
    values: dict[str, Floats] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    reused: list[str] = field(default_factory=list)
    progress: bool = False

    @property
    def known(self) -> list[ScoreColumn]:
        """The columns that were computed."""
        return [column for column in self.columns if column.name in self.values]

    def analyzed(self) -> Iterator[ScoreColumn]:
        """The columns that were computed, with a bar on stderr if there is ``progress`` to show."""
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

    @property
    def gaps(self) -> tuple[str, ...]:
        """A line for below the tables if summaries lack scores."""
        missing = {
            column.label: int(np.isnan(self.values[column.name]).sum()) for column in self.known
        }
        gaps = ", ".join(f"{label} {number}" for label, number in missing.items() if number)
        return (f"Summaries without a score, excluded from that row: {gaps}.",) if gaps else ()

    def rival_of(self, column: ScoreColumn) -> ScoreColumn | None:
        """What a measure is compared with: the same measure in the first setting of ESTIME, in the
        same layer if it is there, or alarms if only a second setting has the measure. For any other
        measure, the first column of ESTIME.
        """
        first = [
            rival for rival in self.known if rival.measure and rival.main and not rival.setting
        ]
        if not column.setting:
            return next(iter(first), None)
        same = [rival for rival in first if rival.measure == column.measure]
        alarms = [rival for rival in first if rival.measure == PAPER_MEASURE]
        in_layer = [rival for rival in same if rival.layer == column.layer]
        return next(iter((*in_layer, *same, *alarms)), None)

    def oriented(self, column: ScoreColumn) -> Floats:
        """The scores of each summary, higher is better; float64 of shape (summaries,)."""
        values = self.values[column.name]
        return 0.0 - values if column.lower_is_better else values  # no minus zero

    def grid(self, column: ScoreColumn, judged: str, among: Floats | None = None) -> Grid:
        """Scores and the judgements in the column ``judged`` of the data, which has every document
        by every system: (documents, systems), for the documents with a score of every system. If
        ``among`` is given, further scores, these documents have one of those for every system as
        well.
        """
        documents, systems = self.data.documents, self.data.systems
        judgements, values, others = (
            np.asarray(numbers, dtype=np.float64).reshape(len(documents), len(systems))
            for numbers in (
                self.data.table[judged],
                self.oriented(column),
                self.oriented(column) if among is None else among,
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

    def to_pandas(self) -> pd.DataFrame:
        """A tidy table: the key of each summary, and a column for each computed one, nothing
        negated.
        """
        names = self.data.table[KEY].set_axis(list(self.data.key_names), axis=1)
        return names.assign(**{column.name: self.values[column.name] for column in self.known})

    def save(self, folder: Path) -> None:
        """Writes ``scores.csv`` and ``run.json``, which says what they are."""
        folder.mkdir(parents=True, exist_ok=True)
        measures = {
            column.name: {"label": column.label, "lower_is_better": column.lower_is_better}
            for column in self.known
        }
        run = {
            "version": __version__,
            "data": self.data.origin,
            "digest": self.data.digest,
            "summaries": len(self.data),
            "signatures": self.signatures,
            "problems": self.problems,
            "measures": measures,
        }
        write_text(folder / SCORES, self.to_pandas().to_csv(index=False))
        write_text(folder / RUN, json.dumps(run, indent=1) + "\n")


def compute_scores(
    data: Data,
    blocks: Sequence[Block],
    *,
    folder: Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> Scores[Data]:
    """Computes all blocks of ``data``, one after the other.

    A block that lacks a package or an encoder is noted in ``Scores.problems``; the others are
    computed. The scores are written to ``folder`` after each block; with ``resume``, those in it
    that were made of the same data with the same signature are reused. ``progress``: a bar for each
    block on stderr. Raises ValueError for ``resume`` with a folder that does not have readable
    scores of this data.
    """
    columns = tuple(column for block in blocks for column in block.columns)
    scores = Scores(data, columns, progress=progress)
    if resume and folder is not None:
        _load(scores, folder)
    for block in blocks:
        _add(scores, block, progress)
        if folder is not None and block.name in scores.signatures:
            scores.save(folder)
    return scores


def _add(scores: Scores[Data], block: Block, progress: bool) -> None:
    """Computes a block, or keeps what was loaded of it if the signature is the same."""
    names = [column.name for column in block.columns]
    earlier_signature = scores.signatures.pop(block.name, None)
    values: ColumnValues = {
        name: scores.values.pop(name) for name in names if name in scores.values
    }
    try:
        prepared = block.prepare()
        if prepared.signature == earlier_signature and len(values) == len(names):
            scores.reused.append(block.name)
        else:
            values = _computed(block, prepared.compute, scores.data, progress)
    except (ImportError, OSError, ValueError) as error:
        scores.problems[block.name] = " ".join(str(error).split())
        return
    scores.values |= {name: np.asarray(values[name], dtype=np.float64) for name in names}
    scores.signatures[block.name] = prepared.signature
    if notes := block.notes(scores.data):
        scores.notes[block.name] = notes


def _computed(
    block: Block, compute: Callable[[Any, Advance], ColumnValues], data: Summaries, progress: bool
) -> ColumnValues:
    if progress and block.own_bar:
        tqdm.write(block.name, file=sys.stderr)
    total = len(data)
    with tqdm(
        total=total, desc=block.name, unit="summary", disable=not progress or block.own_bar
    ) as bar:
        values = compute(data, bar.update)
        bar.update(total - bar.n)
    return values


def _load(scores: Scores[Data], folder: Path) -> None:
    """Reads what an earlier run left; `_add` keeps or drops it."""
    if not (folder / RUN).is_file():
        return
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
        # As text, because some versions of pandas do not read floats to the last bit.
        table = pd.read_csv(folder / SCORES, dtype=object)
        known = {name: table[name].to_numpy(dtype=np.float64) for name in run["measures"]}
        digest, signatures = run["digest"], dict(run["signatures"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"Expected {folder} to contain the scores of an earlier run, but got {error!r}."
        ) from error
    if digest != scores.data.digest or len(table) != len(scores.data):
        raise ValueError(
            f"Expected {folder} to contain scores of this data ({scores.data.digest}), but they are of "
            f"{run.get('data')} ({digest}). Omit --resume or choose another folder."
        )
    wanted = {column.name for column in scores.columns}
    scores.values = {name: values for name, values in known.items() if name in wanted}
    scores.signatures = signatures
