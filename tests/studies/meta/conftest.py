"""Grids with ties and constant groups, and the published scores of coherence measures by hand."""

from __future__ import annotations

import numpy as np

from estime_metric.studies.meta import Grid
from tests.command import csv_rows, json_rows
from tests.conftest import SUMMEVAL

PUBLISHED = SUMMEVAL.parent / "coherence_scores"


def grid_of(scores: object, judgements: object, measure: str = "m", judgement: str = "j") -> Grid:
    x, y = np.asarray(scores, dtype=float), np.asarray(judgements, dtype=float)
    documents = tuple(f"d{row}" for row in range(x.shape[0]))
    systems = tuple(f"s{column}" for column in range(x.shape[1]))
    return Grid(documents, systems, x, y, measure, judgement)


def made_up(documents: int = 9, systems: int = 6, seed: int = 0, steps: int = 5) -> Grid:
    """Judgements in thirds, scores that follow them a little and are tied here and there."""
    rng = np.random.default_rng(seed)
    judgements = rng.integers(3, 3 * steps, size=(documents, systems)) / 3
    scores = np.round(judgements + rng.normal(size=judgements.shape) * 2, 0)
    return grid_of(scores, judgements)


def read_by_hand(measure: str) -> list[np.ndarray]:
    """A measure's published scores and the experts' coherence, by documents and systems, as the
    files say.
    """
    gold = {
        (row["doc_id"], row["system"]): row["coherence"]
        for row in json_rows(SUMMEVAL / "summeval.jsonl")
    }
    scores = {
        (row["doc"], row["system"]): float(row["score"])
        for row in csv_rows(PUBLISHED / f"{measure}.csv")
    }
    documents, systems = (sorted({cell[part] for cell in gold}) for part in (0, 1))
    return [
        np.array([[cells[d, s] for s in systems] for d in documents]) for cells in (scores, gold)
    ]
