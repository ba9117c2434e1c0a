"""The comparison of coherence measures of Steen & Markert 2022, computed again from their published
scores.

Table 4 (shuffle test) can be met to the last digit. Tables 1, 3 and 5 cannot: of their 17 systems
16 have judgements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from estime_metric.comparison.checks import Floats
from estime_metric.studies.benchmarks.coherence.printed import LABELS
from estime_metric.studies.benchmarks.shared.records import by_key, digest, read_records
from estime_metric.studies.benchmarks.shared.scoring import Crossed
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
        """Share of originals that are scored higher, a tie counts one half (Table 4)."""
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
class Toolbox(Crossed):
    """The published scores beside the judgements of coherence.

    Attributes:
        origin: where they come from.
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


def read(folder: Path) -> Toolbox:
    """Reads a folder with ``summeval/``, ``coherence_scores/`` and ``shuffle/``.

    They hold judgements and properties of the systems, scores of each measure on SummEval, and
    scores on the shuffle test, as ``measures.csv`` beside them lists it. A missing file, column or
    score, or a cell that stands twice is named (OSError, ValueError).
    """
    scores = folder / "coherence_scores"
    measures = [name for name in LABELS if (scores / f"{name}.csv").is_file()]
    if not measures:
        raise FileNotFoundError(f"Expected scores of measures in {str(scores)!r}, but found none.")
    fields = ("doc_id", "system", "summary", "coherence")
    judged = by_key(
        read_records(folder / "summeval" / "summeval.jsonl", fields), fields[:2], "summeval.jsonl"
    )
    documents, systems = (tuple(dict.fromkeys(key[axis] for key in judged)) for axis in (0, 1))
    keys = list(product(documents, systems))
    shape = (len(documents), len(systems))

    def column(
        rows: dict[tuple[str, ...], dict[str, str]], field: str, name: str, side: str = "score"
    ) -> Floats:
        if lacking := [key for key in keys if key not in rows]:
            raise ValueError(
                f"Expected a {side} of every summary, but {name!r} lacks {len(lacking)}, first {lacking[0]}."
            )
        return np.array([float(rows[key][field]) for key in keys])

    def table(name: str, *columns: str) -> dict[tuple[str, ...], dict[str, str]]:
        return by_key(
            read_records(scores / f"{name}.csv", ("doc", "system", *columns)),
            ("doc", "system"),
            f"{name}.csv",
        )

    gruen = (scores / "gruen_components.csv").is_file()
    parts = table("gruen_components", *COMPONENTS) if gruen else {}
    properties = ("system", "name", "extractive", "pretrained_transformer", "produces_capitals")
    tested = {name: folder / "shuffle" / f"{name}.csv" for name in LABELS}
    return Toolbox(
        origin=folder.name or str(folder),
        documents=documents,
        systems=systems,
        judgements=column(judged, "coherence", "summeval.jsonl", "judgement").reshape(shape),
        summaries=tuple(judged[key]["summary"] for key in keys),
        scores={name: column(table(name, "score"), "score", name) for name in measures},
        shuffle={
            name: read_shuffle_scores(path) for name, path in tested.items() if path.is_file()
        },
        components={name: column(parts, name, "gruen").reshape(shape) for name in COMPONENTS}
        if gruen
        else {},
        properties={
            row["system"]: row
            for row in read_records(folder / "summeval" / "systems.csv", properties)
        },
    )


def read_shuffle_scores(path: Path) -> ShuffleScores:
    """The scores of a measure on the shuffle test, a CSV file with columns id, label (1, 0) and
    score.

    A text that lacks its original or its shuffled form, or has one twice, is named (ValueError).
    """
    fields = ("id", "label", "score")
    found = by_key(read_records(path, fields), fields[:2], path.name)
    labels: dict[str, list[str]] = {}
    for name, label in found:
        labels.setdefault(name, []).append(label)
    for name, of_name in labels.items():
        if sorted(of_name) != ["0", "1"]:
            got = ", ".join(sorted(of_name))
            raise ValueError(
                f"Expected labels 0 and 1 of {name!r} in {path.name!r}, but got {got}."
            )
    originals, shuffled = (
        np.array([float(found[name, label]["score"]) for name in labels], dtype=np.float64)
        for label in ("1", "0")
    )
    return ShuffleScores(tuple(labels), originals, shuffled)
