"""The judged pairs by which encoders and formulas are chosen: four sets, each with a half for choices and a
half for reports, and what scores reach on resamples of their documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from estime_metric.stats.checks import Floats
from estime_metric.stats.detection import areas
from estime_metric.stats.groups import group_codes
from estime_metric.studies.benchmarks.aggrefact import data as aggrefact
from estime_metric.studies.benchmarks.bump import data as bump
from estime_metric.studies.benchmarks.frank import data as frank
from estime_metric.studies.benchmarks.frank.partial import weighted_partial
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.studies.benchmarks.shared.frames import Resamples
from estime_metric.studies.benchmarks.summeval import data as summeval

SETS = ("bump", "frank", "cliff", "summeval")

#: Halves of the sets, for choices and for the report.
HALVES = CHOICE, REPORT = "choice", "report"

SUMMEVAL_DOCUMENTS = 50  # the first ones are for choices
RESAMPLES = 1000


@dataclass(frozen=True)
class JudgedPair:
    """A summary of a set, with its source.

    Attributes:
        of: the set.
        half: one of `HALVES`.
        document: what is resampled.
        group: the system, the dataset, or the pair of BUMP.
        summary, source: the texts.
        judged: higher is better; of BUMP 1 for the reference, 0 for the edited summary; of SummEval
            consistency.
        qualities: all qualities that were judged, of SummEval.
        spans: texts that annotators marked in the summary, of CLIFF.
    """

    of: str
    half: str
    document: str
    group: str
    summary: str
    source: str
    judged: float
    qualities: tuple[float, ...] = ()
    spans: tuple[str, ...] = ()


def read_pairs(data: Path) -> list[JudgedPair]:
    """All pairs of all sets, both halves, from a folder with ``bump``, ``frank``, ``cliff`` and ``summeval``."""
    return [
        *_bump(data / "bump"),
        *_frank(data / "frank"),
        *_cliff(data),
        *_summeval(data / "summeval"),
    ]


def _bump(folder: Path) -> Iterator[JudgedPair]:
    for split, half in (("valid", CHOICE), ("test", REPORT)):
        for row in bump.read(folder, split=split).table.itertuples():
            judged = float(row.system == bump.REFERENCE)
            yield JudgedPair(
                "bump", half, row.article, row.document, row.summary, row.source, judged
            )


def _frank(folder: Path) -> Iterator[JudgedPair]:
    for split, half in (("valid", CHOICE), ("test", REPORT)):
        for row in frank.read(folder, split).table.itertuples():
            group = f"{row.dataset} {row.system}"
            yield JudgedPair(
                "frank", half, row.document, group, row.summary, row.source, row.factuality
            )


def _cliff(folder: Path) -> Iterator[JudgedPair]:
    for row in aggrefact.with_spans(aggrefact.read(folder)).table.itertuples():
        yield JudgedPair(
            "cliff",
            CHOICE if row.split == "val" else REPORT,
            row.document,
            row.origin,
            row.summary,
            row.source,
            float(row.label),
            spans=tuple(row.spans),
        )


def _summeval(folder: Path) -> Iterator[JudgedPair]:
    data = summeval.read_folder(folder)
    for row in data.table.itertuples():
        yield JudgedPair(
            "summeval",
            CHOICE if row.document in data.documents[:SUMMEVAL_DOCUMENTS] else REPORT,
            row.document,
            row.system,
            row.summary,
            row.source,
            row.consistency,
            qualities=tuple(getattr(row, name) for name in QUALITIES),
        )


class JudgedSet:
    """The pairs of one set, and resamples of its documents.

    Whatever it computes is of shape (1 + resamples,), the set itself first. Scores are of shape
    (pairs of the set,), higher is better.

    Attributes:
        rows: where its pairs are among all pairs.
        pairs: its pairs.
        weights: how often each resample contains each pair, (1 + resamples, pairs of the set).
    """

    def __init__(self, pairs: Sequence[JudgedPair], rows: Sequence[int], resamples: int) -> None:
        self.rows = np.array(rows)
        self.pairs = [pairs[row] for row in rows]
        drawn = Resamples([pair.document for pair in self.pairs], resamples, seed=0)
        self.weights = drawn.weights(np.arange(len(self.pairs)))
        self._judged = np.array([pair.judged for pair in self.pairs])
        self._groups = np.array([pair.group for pair in self.pairs])

    def consistency(self, scores: Floats) -> Floats:
        """The share of BUMP's pairs in which the reference scores strictly better."""
        order = np.lexsort((self._judged, self._groups))
        edited, reference = order[::2], order[1::2]  # of each pair
        assert (self._groups[edited] == self._groups[reference]).all()
        weights = self.weights[:, reference]
        better: Floats = weights @ (scores[reference] > scores[edited]) / weights.sum(axis=1)
        return better

    def partial(self, scores: Floats, method: str, within: str = "") -> Floats:
        """The correlation with the judgements, controlling for the group; ``within`` begins the groups that count."""
        kept = np.array([group.startswith(within) for group in self._groups])
        codes = group_codes(self._groups[kept].tolist(), int(kept.sum()))
        return weighted_partial(
            self.weights[:, kept], scores[kept], self._judged[kept], codes, method
        )

    def rank_correlation(self, scores: Floats, judged: npt.ArrayLike | None = None) -> Floats:
        """Spearman's correlation with the judgements, or with others."""
        values = self._judged if judged is None else np.asarray(judged, dtype=np.float64)
        codes = np.zeros(len(scores), dtype=np.int64)
        return weighted_partial(self.weights, scores, values, codes, "spearman")

    def separation(self, scores: Floats, *groups: str) -> Floats:
        """2A - 1, where A is the area under the ROC curve, on some groups."""
        kept = np.isin(self._groups, groups)
        labels = self._judged[kept].astype(np.int64)
        return 2 * areas(labels, scores[kept], self.weights[:, kept]) - 1

    def share(self, part: Floats, whole: Floats, *groups: str) -> Floats:
        """The sum of ``part`` divided by the sum of ``whole``, on some groups, or on all if none is named."""
        weights = self.weights * (np.isin(self._groups, groups) if groups else 1)
        ratio: Floats = weights @ part / (weights @ whole)
        return ratio


def sets_of(
    pairs: Sequence[JudgedPair], half: str, resamples: int = RESAMPLES
) -> dict[str, JudgedSet]:
    """The sets of one half of some pairs."""
    rows: dict[str, list[int]] = {}
    for row, pair in enumerate(pairs):
        if pair.half == half:
            rows.setdefault(pair.of, []).append(row)
    return {name: JudgedSet(pairs, of_set, resamples) for name, of_set in rows.items()}
