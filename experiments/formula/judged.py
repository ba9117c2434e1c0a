"""The judged pairs by which the formula was chosen: four sets, each with a half for choices and a half
for reports, and RAGTruth, by which only the weight of new numbers was chosen, and what scores reach on
resamples of their documents.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from estime_metric.table.arrays import Floats, group_codes
from experiments.benchmarks import aggrefact, bump, frank, ragtruth, systems
from experiments.benchmarks.common import Run, with_interval
from experiments.benchmarks.statistics import areas, partial_correlations

SETS = ("bump", "frank", "cliff", "summeval")
#: The set by which only the weight of new numbers was chosen.
FIFTH = "ragtruth"

#: Halves of the sets, for choices and for the report.
HALVES = CHOICE, REPORT = "choice", "report"
_HALF_OF_SPLIT = {"valid": CHOICE, "val": CHOICE, "test": REPORT}

RESAMPLES = 1000


def read_pairs(data: Path) -> pd.DataFrame:
    """All pairs of all sets, both halves, from a folder with `SETS` and `FIFTH`.

    A row for each pair: its ``set`` and ``half``; ``document``, what is resampled; ``group``, the
    system, the dataset, or the pair of BUMP; ``summary``, ``source``; ``judged``, higher is better:
    of BUMP 1 for the reference, 0 for the edited summary, of SummEval consistency. Further columns
    are those of the set.
    """
    tables = {
        "bump": _bump(data / "bump"),
        "frank": _frank(data / "frank"),
        "cliff": _cliff(data),
        "summeval": _summeval(data / "summeval"),
        FIFTH: _ragtruth(data / FIFTH),
    }
    return pd.concat([table.assign(set=name) for name, table in tables.items()], ignore_index=True)


def _bump(folder: Path) -> pd.DataFrame:
    splits = [bump.read(folder, split=split).assign(split=split) for split in ("valid", "test")]
    table = pd.concat(splits)
    return table.assign(
        half=table["split"].map(_HALF_OF_SPLIT),
        document=table["article"],
        group=table["document"],
        judged=(table["system"] == bump.REFERENCE).astype(float),
    )


def _frank(folder: Path) -> pd.DataFrame:
    table = pd.concat([frank.read(folder, split) for split in frank.SPLITS])
    return table.assign(
        half=table["split"].map(_HALF_OF_SPLIT),
        group=table["dataset"] + " " + table["system"],
        judged=table["factuality"],
    )


def _cliff(data: Path) -> pd.DataFrame:
    table = aggrefact.read(data)
    table = table[table["dataset"] == "CLIFF"]
    return table.assign(
        half=table["split"].map(_HALF_OF_SPLIT),
        group=table["origin"],
        judged=table["label"].astype(float),
    )


def _summeval(folder: Path) -> pd.DataFrame:
    table = systems.read_summeval(folder)
    half = table["part"].map({systems.CHOOSING: CHOICE, systems.REPORTING: REPORT})
    return table.assign(half=half, group=table["system"], judged=table["consistency"])


def _ragtruth(folder: Path) -> pd.DataFrame:
    table = ragtruth.read(folder)
    return table.assign(half=CHOICE, group=FIFTH, judged=table["label"].astype(float))


class JudgedSet:
    """The pairs of one set, and resamples of its documents.

    Whatever it computes is of shape (1 + resamples,), the set itself first. Scores are of shape
    (pairs of the set,), higher is better.

    Attributes:
        pairs: its rows of all pairs.
        rows: where these are among all pairs.
        weights: how often each resample contains each pair, (1 + resamples, pairs of the set).
    """

    def __init__(self, pairs: pd.DataFrame, resamples: int = RESAMPLES) -> None:
        self.pairs, self.rows = pairs, pairs.index.to_numpy()
        self.weights = Run(resamples=resamples).weights(pairs["document"])
        self._judged = pairs["judged"].to_numpy(dtype=np.float64)
        self._groups = pairs["group"].to_numpy(dtype=str)

    def consistency(self, scores: Floats) -> Floats:
        """The share of BUMP's pairs in which the reference scores strictly better."""
        return bump.share_of_pairs(scores.reshape(-1, 2), self.weights[:, ::2]) / 100

    def partial(self, scores: Floats) -> Floats:
        """Spearman's correlation with the judgements, controlling for the group."""
        codes = group_codes(self._groups.tolist(), len(scores))
        return partial_correlations(self.weights, scores, self._judged, codes, "spearman")

    def rank_correlation(self, scores: Floats) -> Floats:
        """Spearman's correlation with the judgements."""
        codes = np.zeros(len(scores), dtype=np.int64)
        return partial_correlations(self.weights, scores, self._judged, codes, "spearman")

    def separation(self, scores: Floats, *groups: str) -> Floats:
        """2A - 1, where A is the area under the ROC curve, on some groups."""
        kept = np.isin(self._groups, groups)
        labels = self._judged[kept].astype(np.int64)
        return 2 * areas(labels, scores[kept], self.weights[:, kept]) - 1


def sets_of(pairs: pd.DataFrame, half: str, resamples: int = RESAMPLES) -> dict[str, JudgedSet]:
    """The sets of one half of some pairs."""
    by_set = pairs[pairs["half"] == half].groupby("set", sort=False)
    return {str(name): JudgedSet(judged, resamples) for name, judged in by_set}


def shown(drawn: Floats) -> str:
    """A value with its 95% interval."""
    number = with_interval(drawn)
    return f"{number['value']:.4f} [{number['value_low']:.3f}, {number['value_high']:.3f}]"
