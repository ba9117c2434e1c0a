"""The comparison of coherence measures of Steen & Markert 2022, computed again from their published scores.

A folder of data holds ``summeval/`` (judgements and properties of the systems), ``coherence_scores/`` (scores of each
measure on SummEval) and ``shuffle/`` (scores on the shuffle test), as ``measures.csv`` beside them lists it.

Table 4 (shuffle test) can be met to the last digit. Tables 1, 3 and 5 cannot: judgements exist for 16 of the paper's
17 systems, so what is computed here stands beside what was printed, and never in place of it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from estime_metric.meta import Grid, correlate
from estime_metric.meta.checks import Floats
from estime_metric.meta.confounders import break_ties, from_property, system_upper_bound
from estime_metric.meta.correlations import weighted
from estime_metric.meta.shuffle import accuracy_by_length_difference, shuffle_accuracy
from estime_metric.studies.coherence_toolbox.printed import LABELS

#: The paper's names of its statistics (section 4) -> level and method of `estime_metric.meta.correlate`.
STATISTICS = {
    "τ_intra": ("intra_system", "kendall_b"),
    "τ_pair": ("pairwise", "kendall_b"),
    "τ_sum": ("summary", "kendall_b"),
    "τ_sys": ("system", "kendall_b"),
    "Acc_pair": ("pairwise", "accuracy"),
}

#: Runs over which the confounders with noise are averaged (Table 1).
RUNS = 100


@dataclass(frozen=True, eq=False)
class ShuffleScores:
    """Scores of one measure on the shuffle test.

    Attributes:
        measure: its name, that of the file.
        ids: (n,) names of the texts.
        originals: (n,) scores of the originals, higher is better.
        shuffled: (n,) scores of the same texts shuffled.
    """

    measure: str
    ids: tuple[str, ...]
    originals: Floats
    shuffled: Floats

    @property
    def accuracy(self) -> float:
        """Share of originals that are scored higher, a tie counts one half (Table 4)."""
        return shuffle_accuracy(self.originals, self.shuffled)

    @property
    def accuracy_across(self) -> float:
        """The same of each original and the shuffled form of each *other* text (section 7.4); NaN of fewer than two."""
        number = len(self.ids)
        pairs = max(number * (number - 1), 1)
        curve = accuracy_by_length_difference(self.originals, self.shuffled, np.zeros(number), pairs=pairs)
        return float(curve.means[0]) if len(curve.means) else float("nan")


@dataclass(frozen=True)
class System:
    """A system of SummEval: its identifier, its name in the paper, and its properties, each 0 or 1."""

    system: str
    name: str
    extractive: int
    pretrained_transformer: int
    produces_capitals: int


def read_shuffle_scores(folder: Path, measure: str) -> ShuffleScores:
    """The scores of a measure on the shuffle test, ``shuffle/MEASURE.csv`` with columns id, label (1, 0) and score.

    Raises:
        ValueError: a text lacks its original or its shuffled form, or has one twice; it is named.
        OSError: the file cannot be read.
    """
    path = folder / "shuffle" / f"{measure}.csv"
    found: dict[str, dict[str, float]] = {}
    for row in _rows(path, ("id", "label", "score")):
        pair = found.setdefault(row["id"], {})
        if row["label"] in pair:
            raise ValueError(
                f"Expected {path.name!r} to hold each text once, but {row['id']!r} has two {row['label']!r}."
            )
        pair[row["label"]] = float(row["score"])
    for name, pair in found.items():
        if set(pair) != {"0", "1"}:
            raise ValueError(
                f"Expected labels 0 and 1 of {name!r} in {path.name!r}, but got {', '.join(sorted(pair))}."
            )
    originals = np.array([pair["1"] for pair in found.values()], dtype=np.float64)
    shuffled = np.array([pair["0"] for pair in found.values()], dtype=np.float64)
    return ShuffleScores(measure, tuple(found), originals, shuffled)


def read_systems(folder: Path) -> dict[str, System]:
    """The systems by their identifiers, ``summeval/systems.csv``, also those that have no judgements."""
    columns = ("system", "name", "extractive", "pretrained_transformer", "produces_capitals")
    return {
        row["system"]: System(row["system"], row["name"], *(int(row[column]) for column in columns[2:]))
        for row in _rows(folder / "summeval" / "systems.csv", columns)
    }


def read_grid(folder: Path, measure: str, judgement: str = "coherence") -> Grid:
    """The scores of a measure beside the judgements, for the systems that have judgements.

    Args:
        folder: the folder of data.
        measure: stem of a file in ``coherence_scores/``.
        judgement: ``coherence``, ``consistency``, ``fluency`` or ``relevance``.

    Returns:
        Documents and systems in the order of ``summeval.jsonl``.

    Raises:
        ValueError: a judged summary has no score, or a cell stands twice.
        OSError: a file cannot be read.
    """
    judged = _read_judgements(folder, judgement)
    path = folder / "coherence_scores" / f"{measure}.csv"
    scores: dict[tuple[str, str], float] = {}
    for row in _rows(path, ("doc", "system", "score")):
        cell = (row["doc"], row["system"])
        if cell in scores:
            raise ValueError(f"Expected {path.name!r} to hold each summary once, but twice came {cell}.")
        scores[cell] = float(row["score"])
    return _grid(judged, scores, measure, judgement)


def scored_measures(folder: Path) -> list[str]:
    """The measures of Table 3 that have scores in ``coherence_scores/``, in its order.

    Raises:
        FileNotFoundError: there is none.
    """
    found = [measure for measure in LABELS if (folder / "coherence_scores" / f"{measure}.csv").is_file()]
    if not found:
        raise FileNotFoundError(f"Expected scores of measures in {str(folder / 'coherence_scores')!r}, but found none.")
    return found


def has_components(folder: Path) -> bool:
    """Whether the components of GRUEN are at hand."""
    return _components(folder).is_file()


def read_components(folder: Path, columns: tuple[str, ...]) -> dict[str, Grid]:
    """Components of GRUEN beside the judgements of coherence, ``coherence_scores/gruen_components.csv``."""
    judged = _read_judgements(folder, "coherence")
    rows = list(_rows(_components(folder), ("doc", "system", *columns)))
    return {
        column: _grid(judged, {(row["doc"], row["system"]): float(row[column]) for row in rows}, column, "coherence")
        for column in columns
    }


def read_summaries(folder: Path) -> dict[tuple[str, str], str]:
    """(document, system) -> the summary, ``summeval/summeval.jsonl``."""
    with (folder / "summeval" / "summeval.jsonl").open(encoding="utf-8") as lines:
        return {(row["doc_id"], row["system"]): row["summary"] for row in map(json.loads, lines)}


def shuffle_test(folder: Path) -> dict[str, ShuffleScores]:
    """The scores of Table 4: those of each measure on the shuffle test of CNN/DailyMail summaries."""
    return {
        measure: read_shuffle_scores(folder, measure)
        for measure in LABELS
        if (folder / "shuffle" / f"{measure}.csv").is_file()
    }


def statistics_of(scores: Floats, judgements: Floats) -> dict[str, float]:
    """The five statistics of Table 3, by the paper's names; NaN where one is undefined."""
    found = {
        level: weighted(scores, judgements, level, [method for of, method in STATISTICS.values() if of == level])
        for level in dict.fromkeys(level for level, _ in STATISTICS.values())
    }
    return {name: float(found[level][method][0]) for name, (level, method) in STATISTICS.items()}


def confounders(folder: Path) -> dict[str, Floats]:
    """Table 1's pseudo-measures on the systems that have judgements: name -> scores (d, s).

    Capitalisation is the property of the system here, since the texts at hand have had the first letter of each
    sentence capitalised; the paper counts capital letters.
    """
    judgements, (documents, systems) = _judged_table(folder)
    properties = read_systems(folder)
    capitals = [properties[system].produces_capitals for system in systems]
    architecture = [properties[system].pretrained_transformer for system in systems]
    return {
        "capitalisation": from_property(capitals, len(documents)),
        "architecture": from_property(architecture, len(documents)),
        "upper bound": system_upper_bound(judgements),
    }


def confounder_statistics(folder: Path, runs: int = RUNS, seed: int = 0) -> dict[str, dict[str, float]]:
    """Table 1: the statistics of each confounder, and under NAME + " (r)" those with ties broken, mean over runs.

    Without noise the scores within a system are equal and ``τ_intra`` is NaN.
    """
    judgements, _ = _judged_table(folder)
    table: dict[str, dict[str, float]] = {}
    for name, scores in confounders(folder).items():
        table[name] = statistics_of(scores, judgements)
        noisy = [statistics_of(break_ties(scores, seed + run), judgements) for run in range(runs)]
        table[f"{name} (r)"] = {label: float(np.mean([each[label] for each in noisy])) for label in STATISTICS}
    return table


def gruen_components(folder: Path) -> dict[tuple[str, str], float]:
    """Table 5: system-level tau-b with coherence of GRUEN's components (both names equal) and of each sum of two.

    The components are taken as they enter GRUEN: ``cola / 8``, ``exp(-lm / 2) / 8`` (``lm`` is a loss), and the two
    penalties as they are.
    """
    grids = read_components(folder, ("cola", "redundancy", "lm", "focus"))
    parts = {name: np.exp(-grid.scores / 2) / 8 if name == "lm" else grid.scores for name, grid in grids.items()}
    parts["cola"] = parts["cola"] / 8
    judgements = grids["cola"].judgements
    names = list(parts)
    return {
        (one, other): correlate(
            parts[one] if one == other else parts[one] + parts[other], judgements, level="system", method="kendall_b"
        )
        for index, one in enumerate(names)
        for other in names[index:]
    }


def _components(folder: Path) -> Path:
    return folder / "coherence_scores" / "gruen_components.csv"


def _read_judgements(folder: Path, judgement: str) -> dict[tuple[str, str], float]:
    """(document, system) -> the mean judgement of the experts."""
    judged: dict[tuple[str, str], float] = {}
    with (folder / "summeval" / "summeval.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if judgement not in row:
                raise ValueError(
                    f"Expected argument `judgement` to be a field of summeval.jsonl, but got {judgement!r}."
                )
            judged[row["doc_id"], row["system"]] = float(row[judgement])
    return judged


def _judged_table(folder: Path) -> tuple[Floats, tuple[list[str], list[str]]]:
    judged = _read_judgements(folder, "coherence")
    documents, systems = (list(dict.fromkeys(cell[axis] for cell in judged)) for axis in (0, 1))
    return np.array([[judged[document, system] for system in systems] for document in documents]), (documents, systems)


def _grid(
    judged: dict[tuple[str, str], float], scores: dict[tuple[str, str], float], measure: str, judgement: str
) -> Grid:
    """Both as one grid of the judged summaries."""
    documents, systems = (tuple(dict.fromkeys(cell[axis] for cell in judged)) for axis in (0, 1))
    cells = [(document, system) for document in documents for system in systems]
    for side, table in (("judgement", judged), ("score", scores)):
        lacking = [cell for cell in cells if cell not in table]
        if lacking:
            raise ValueError(
                f"Expected a {side} of every summary, but {measure!r} lacks {len(lacking)}, first {lacking[0]}."
            )
    shape = (len(documents), len(systems))
    values, gold = (np.array([table[cell] for cell in cells]).reshape(shape) for table in (scores, judged))
    return Grid(documents, systems, values, gold, measure, judgement)


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        lacking = [column for column in columns if column not in (reader.fieldnames or ())]
        if lacking:
            raise ValueError(f"Expected {path.name!r} to have the column {lacking[0]!r}, but got {reader.fieldnames}.")
        yield from reader
