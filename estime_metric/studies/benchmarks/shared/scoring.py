"""Blocks of measures -> scores of every summary, kept in a folder from which an interrupted run can
be resumed.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pandas as pd
from tqdm import tqdm

from estime_metric import files
from estime_metric._version import __version__
from estime_metric.comparison.checks import Floats
from estime_metric.studies.meta.grid import Grid

#: Sections of the tables, in order; the last holds scores read from files.
REFERENCE_FREE, REFERENCE_BASED, TRIVIAL, OWN = (
    "Reference-free",
    "Reference-based",
    "Trivial",
    "From files",
)
SECTIONS = (REFERENCE_FREE, REFERENCE_BASED, TRIVIAL, OWN)
SCORES, RUN = "scores.csv", "run.json"

Columns = Mapping[str, Floats]
#: Called with the number of summaries scored since the last call.
Advance = Callable[[int], object]


class Summaries(Protocol):
    """The summaries of a benchmark: ``documents`` and ``systems``, names, each once, in order; of
    each summary ``keys`` (document and system), its text and ``source_of_each``; ``key_names``,
    what the parts of a key are called in tables; ``origin``, where they come from; ``digest``,
    which changes with any text, name or judgement."""

    key_names: tuple[str, str]

    @property
    def origin(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def documents(self) -> tuple[str, ...]: ...
    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def keys(self) -> list[tuple[str, str]]: ...
    @property
    def summaries(self) -> tuple[str, ...]: ...
    @property
    def source_of_each(self) -> list[str]: ...


class Listed:
    """Data whose ``keys`` say which documents and systems there are."""

    key_names = ("document", "system")

    @cached_property
    def documents(self: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(document for document, _ in self.keys))

    @cached_property
    def systems(self: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(system for _, system in self.keys))

    def __len__(self: Any) -> int:
        return len(self.summaries)


class Crossed:
    """Data with a summary of every document by every system, all systems of the first document
    first.
    """

    key_names = ("document", "system")

    @cached_property
    def keys(self: Any) -> list[tuple[str, str]]:
        return list(product(self.documents, self.systems))

    def __len__(self: Any) -> int:
        return len(self.summaries)


Data = TypeVar("Data", bound=Summaries)


@dataclass(frozen=True)
class Measure:
    """A column of scores, and its row in the tables. ``label`` is its name there, with ``(-)`` in
    front where ``lower_is_better`` has it negated before it is correlated; ``section`` is one of
    `SECTIONS` or the study's own. ``layer`` and ``unit`` are those of a measure of ESTIME; one that
    is not ``main`` stands in the table of layers alone."""

    column: str
    label: str
    section: str
    lower_is_better: bool = False
    layer: int | None = None
    unit: str | None = None
    main: bool = True


#: The signature of some scores (equal signatures, equal scores), and what computes them: data and
#: `Advance` -> a column for each measure, float64 of shape (summaries,).
Prepared = tuple[str, Callable[[Any, Advance], Columns]]


@dataclass(frozen=True)
class Block:
    """Measures that are computed together: a name for the screen; one of ``measures`` for each
    column; what loads what they need; whether they show progress themselves; data -> notes that
    belong below the tables."""

    name: str
    measures: tuple[Measure, ...]
    prepare: Callable[[], Prepared]
    own_bar: bool = False
    notes: Callable[[Any], tuple[str, ...]] = lambda _: ()


def published_block(
    name: str, section: str, signature: str, scores: Mapping[str, tuple[str, Floats]]
) -> Block:
    """Scores that come with the data: column -> its label in the tables, and the values."""
    measures = tuple(Measure(column, label, section) for column, (label, _) in scores.items())
    columns = {column: values for column, (_, values) in scores.items()}
    return Block(name, measures, lambda: (signature, lambda *_: columns))


@dataclass
class Scores(Generic[Data]):
    """The scores of every measure that could be computed, of all the ``measures`` that were asked
    for. ``values``: column -> float64 of shape (summaries,); by block ``signatures``, ``problems``
    (why it could not be computed), ``notes`` (what a reader has to know) and ``reused``, those
    whose scores come from an earlier run."""

    data: Data
    measures: tuple[Measure, ...] = ()
    values: dict[str, Floats] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    reused: list[str] = field(default_factory=list)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    progress: bool = False

    @property
    def known(self) -> list[Measure]:
        """The measures that were computed."""
        return [measure for measure in self.measures if measure.column in self.values]

    def analyzed(self) -> Iterator[Measure]:
        """The same, with a bar on stderr where there is ``progress`` to show."""
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
        """A line for below the tables where summaries lack scores."""
        missing = {one.label: int(np.isnan(self.values[one.column]).sum()) for one in self.known}
        gaps = ", ".join(f"{label} {number}" for label, number in missing.items() if number)
        return (f"Summaries without a score, left out of that row: {gaps}.",) if gaps else ()

    def oriented(self, measure: Measure) -> Floats:
        """The scores of each summary, higher is better; float64 of shape (summaries,)."""
        values = self.values[measure.column]
        return 0.0 - values if measure.lower_is_better else values  # no minus zero

    def grid(
        self, measure: Measure, judgements: Floats, judged: str, among: Floats | None = None
    ) -> Grid:
        """Scores beside ``judgements``, (documents, systems), for the documents with a score of
        every system, and where ``among`` is there, further scores, with one of those as well; of
        `Crossed` data.
        """
        values = self.oriented(measure).reshape(judgements.shape)
        known = np.isfinite(values).all(axis=1)
        if among is not None:
            known &= np.isfinite(among.reshape(judgements.shape)).all(axis=1)
        documents = tuple(self.data.documents[index] for index in np.flatnonzero(known))
        return Grid(
            documents, self.data.systems, values[known], judgements[known], measure.label, judged
        )

    def to_pandas(self) -> pd.DataFrame:
        """A tidy table: document, system, and a column for each measure as computed, nothing
        negated.
        """
        names = pd.DataFrame(self.data.keys, columns=list(self.data.key_names))
        return names.assign(
            **{measure.column: self.values[measure.column] for measure in self.known}
        )

    def save(self, folder: Path) -> None:
        """Writes ``scores.csv`` and ``run.json``, which says what they are."""
        folder.mkdir(parents=True, exist_ok=True)
        measures = {
            one.column: {"label": one.label, "lower_is_better": one.lower_is_better}
            for one in self.known
        }
        run = {
            "version": __version__,
            "data": self.data.origin,
            "digest": self.data.digest,
            "documents": len(self.data.documents),
            "systems": len(self.data.systems),
            "signatures": self.signatures,
            "problems": self.problems,
            "measures": measures,
        }
        files.write_text(folder / SCORES, self.to_pandas().to_csv(index=False))
        files.write_text(folder / RUN, json.dumps(run, indent=1) + "\n")


def measure(
    data: Data,
    blocks: Sequence[Block],
    *,
    folder: Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> Scores[Data]:
    """Computes all blocks of ``data``, one after the other.

    A block that lacks a package or an encoder is noted in ``Scores.problems``; the others are
    computed. The scores are written to ``folder`` after each; with ``resume`` those in it that were
    made of the same data with the same signature are taken from there. ``progress``: a bar for each
    block on stderr. Raises ValueError for ``resume`` without ``folder``, or with one that holds no
    readable scores of this data.
    """
    scores = Scores(
        data, tuple(one for block in blocks for one in block.measures), progress=progress
    )
    if resume:
        if folder is None:
            raise ValueError(
                "Expected argument `folder` to be set where `resume` is, but got None."
            )
        _load(scores, folder)
    for block in blocks:
        columns = [one.column for one in block.measures]
        earlier = scores.signatures.pop(block.name, None)
        values: Columns = {
            column: scores.values.pop(column) for column in columns if column in scores.values
        }
        try:
            signature, compute = block.prepare()
            if signature == earlier and len(values) == len(columns):
                scores.reused.append(block.name)
            else:
                values = _compute(block, compute, data, progress)
        except (ImportError, OSError, ValueError) as error:
            scores.problems[block.name] = " ".join(str(error).split())
            continue
        scores.values |= {
            column: np.asarray(values[column], dtype=np.float64) for column in columns
        }
        scores.signatures[block.name] = signature
        if said := block.notes(data):
            scores.notes[block.name] = said
        if folder is not None:
            scores.save(folder)
    return scores


def _compute(
    block: Block, compute: Callable[[Any, Advance], Columns], data: Summaries, progress: bool
) -> Columns:
    if progress and block.own_bar:
        tqdm.write(block.name, file=sys.stderr)
    total = len(data.keys)
    with tqdm(
        total=total, desc=block.name, unit="summary", disable=not progress or block.own_bar
    ) as bar:
        values = compute(data, bar.update)
        bar.update(total - bar.n)
    return values


def _load(scores: Scores[Data], folder: Path) -> None:
    """Takes over what an earlier run left, for `measure` to keep or to drop."""
    if not (folder / RUN).is_file():
        return
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
        with (folder / SCORES).open(encoding="utf-8", newline="") as stream:
            table = list(
                csv.DictReader(stream)
            )  # to the last bit, as not every version of pandas reads it
        digest, signatures = run["digest"], dict(run["signatures"])
        known = {
            name: np.array([float(row[name] or "nan") for row in table]) for name in run["measures"]
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"Expected {folder} to hold the scores of an earlier run, but got {error!r}."
        ) from error
    if digest != scores.data.digest or len(table) != len(scores.data.keys):
        raise ValueError(
            f"Expected {folder} to hold scores of this data ({scores.data.digest}), but they are of {run.get('data')} "
            f"({digest}). Leave out --resume or choose another folder."
        )
    wanted = {one.column for one in scores.measures}
    scores.values = {name: values for name, values in known.items() if name in wanted}
    scores.signatures = signatures
