"""The scores of coherence measures that Steen & Markert 2022 published, and the judgements.

Table 4 of the paper (shuffle test) can be met to the last digit. Tables 1, 3 and 5 cannot: of their
17 systems 16 have judgements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from estime_metric.stats.checks import Floats
from estime_metric.studies.benchmarks.coherence_scores.published import LABELS
from estime_metric.studies.benchmarks.shared.data import Crossed, SummaryKey, keys_of
from estime_metric.studies.benchmarks.shared.records import Record, by_key, digest, read_records
from estime_metric.studies.meta.shuffle import accuracy_by_length_difference, shuffle_accuracy

COMPONENTS = ("cola", "redundancy", "lm", "focus")


@dataclass(frozen=True, eq=False)
class ShuffleScores:
    """A measure on the shuffle test: names of n texts, scores of the originals and of their
    shuffled forms, (n,).
    """

    ids: tuple[str, ...]
    originals: Floats
    shuffled: Floats

    @property
    def accuracy(self) -> float:
        """Fraction of originals that are scored higher; a tie counts as one half (Table 4)."""
        return shuffle_accuracy(self.originals, self.shuffled)

    @property
    def accuracy_across(self) -> float:
        """The same of each original and the shuffled form of each *other* text (section 7.4); NaN
        of fewer than two.
        """
        number = len(self.ids)
        pairs = max(number * (number - 1), 1)
        curve = accuracy_by_length_difference(
            self.originals, self.shuffled, np.zeros(number), pairs=pairs
        )
        return float(curve.means[0]) if len(curve.means) else float("nan")


@dataclass(frozen=True, eq=False)
class CoherenceScores(Crossed):
    """The published scores, and the judgements of coherence.

    Attributes:
        origin: where the data comes from.
        documents, systems: D and S names, those that are judged, in the order of
            ``summeval.jsonl``.
        summaries: D times S texts, all systems of the first document first.
        judgements: float64 of shape (D, S): the mean of the experts, higher is better.
        scores, shuffle: measure (the name of a file) -> float64 of shape (D * S,), and its scores
            on the shuffle test.
        components: component of GRUEN -> float64 of shape (D, S); empty if they are not available.
        properties: system, also without judgements -> ``name``, ``extractive``,
            ``pretrained_transformer``, ``produces_capitals``.
    """

    origin: str
    documents: tuple[str, ...]
    systems: tuple[str, ...]
    summaries: tuple[str, ...]
    judgements: Floats
    scores: dict[str, Floats]
    shuffle: dict[str, ShuffleScores]
    components: dict[str, Floats]
    properties: dict[str, dict[str, str]]
    source_of_each: list[str] = field(default_factory=list)  # no measure here reads the sources

    @property
    def names(self) -> list[str]:
        """The systems as the paper calls them."""
        return [self.properties.get(system, {}).get("name", system) for system in self.systems]

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with any text, name, judgement or score."""
        scores = {name: values.tolist() for name, values in self.scores.items()}
        return digest(self.keys, self.summaries, self.judgements.tolist(), scores)


def read(folder: Path) -> CoherenceScores:
    """Reads a folder with ``summeval/``, ``coherence_scores/`` and ``shuffle/``.

    They have judgements and properties of the systems, scores of each measure on SummEval, and
    scores on the shuffle test. OSError for a missing file, ValueError for a missing column or score
    and a cell that occurs twice; the message names it.
    """
    scores = folder / "coherence_scores"
    measures = [name for name in LABELS if (scores / f"{name}.csv").is_file()]
    if not measures:
        raise FileNotFoundError(f"Expected scores of measures in {str(scores)!r}, but found none.")
    judged = _cells(
        folder / "summeval" / "summeval.jsonl", ("doc_id", "system"), ("summary", "coherence")
    )
    documents = tuple(dict.fromkeys(key.document for key in judged))
    systems = tuple(dict.fromkeys(key.system for key in judged))
    keys = keys_of(product(documents, systems))
    shape = (len(documents), len(systems))
    judgements = _column(judged, keys, "coherence", "a judgement", "summeval.jsonl")
    return CoherenceScores(
        origin=folder.name or str(folder),
        documents=documents,
        systems=systems,
        summaries=tuple(judged[key]["summary"] for key in keys),
        judgements=judgements.reshape(shape),
        scores={name: _read_scores(scores / f"{name}.csv", keys) for name in measures},
        shuffle=_read_shuffle(folder / "shuffle"),
        components={
            name: values.reshape(shape)
            for name, values in _read_components(scores / "gruen_components.csv", keys).items()
        },
        properties=_read_properties(folder / "summeval" / "systems.csv"),
    )


#: Key of a summary -> its row in a file.
_Cells = dict[SummaryKey, Record]


def _cells(path: Path, names: tuple[str, str], fields: Sequence[str]) -> _Cells:
    """The rows of a file by the key of their summary, which its columns ``names`` have."""
    rows = by_key(read_records(path, (*names, *fields)), names, path.name)
    return {SummaryKey(*key): row for key, row in rows.items()}


def _column(cells: _Cells, keys: Sequence[SummaryKey], field: str, what: str, name: str) -> Floats:
    """A field of each summary as a number."""
    if lacking := [key for key in keys if key not in cells]:
        raise ValueError(
            f"Expected {what} of every summary, but {name!r} lacks {len(lacking)}, first {tuple(lacking[0])}."
        )
    return np.array([float(cells[key][field]) for key in keys])


def _read_scores(path: Path, keys: Sequence[SummaryKey]) -> Floats:
    cells = _cells(path, ("doc", "system"), ("score",))
    return _column(cells, keys, "score", "a score", path.stem)


def _read_components(path: Path, keys: Sequence[SummaryKey]) -> dict[str, Floats]:
    """The components of GRUEN; empty if there is no such file."""
    if not path.is_file():
        return {}
    cells = _cells(path, ("doc", "system"), COMPONENTS)
    return {name: _column(cells, keys, name, "a score", "gruen") for name in COMPONENTS}


def _read_shuffle(folder: Path) -> dict[str, ShuffleScores]:
    paths = {name: folder / f"{name}.csv" for name in LABELS}
    return {name: read_shuffle_scores(path) for name, path in paths.items() if path.is_file()}


def _read_properties(path: Path) -> dict[str, dict[str, str]]:
    fields = ("system", "name", "extractive", "pretrained_transformer", "produces_capitals")
    return {row["system"]: row for row in read_records(path, fields)}


def read_shuffle_scores(path: Path) -> ShuffleScores:
    """The scores of a measure on the shuffle test, a CSV file with columns id, label (1, 0) and
    score.

    A text that lacks its original or its shuffled form, or has one twice, is named (ValueError).
    """
    fields = ("id", "label", "score")
    rows = by_key(read_records(path, fields), ("id", "label"), path.name)
    labels: dict[str, list[str]] = {}
    for name, label in rows:
        labels.setdefault(name, []).append(label)
    for name, of_name in labels.items():
        if sorted(of_name) != ["0", "1"]:
            got = ", ".join(sorted(of_name))
            raise ValueError(
                f"Expected labels 0 and 1 of {name!r} in {path.name!r}, but got {got}."
            )

    def column(label: str) -> Floats:
        return np.array([float(rows[name, label]["score"]) for name in labels], dtype=np.float64)

    return ShuffleScores(ids=tuple(labels), originals=column("1"), shuffled=column("0"))
