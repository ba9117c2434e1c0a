"""Balanced accuracies of five detectors as published; none was computed by this package.

Source: Tang et al. 2023, table 8, with a threshold for each row, on the split ``test``; three digits
from the authors' notebook ``final_result.ipynb``.
"""

from __future__ import annotations

from dataclasses import dataclass

from experiments.benchmarks.aggrefact.data import Place

DETECTORS = ("DAE", "QuestEval", "SummaC-ZS", "SummaC-Conv", "QAFactEval")


@dataclass(frozen=True)
class PublishedRow:
    """A row of table 8: the number of summaries, and detector -> balanced accuracy."""

    summaries: int
    accuracies: dict[str, float]


def _row(summaries: int, *accuracies: float) -> PublishedRow:
    return PublishedRow(summaries, dict(zip(DETECTORS, accuracies, strict=True)))


TABLE_8 = {
    Place("cnndm", "CLIFF", "recent"): _row(150, 0.730, 0.740, 0.646, 0.649, 0.716),
    Place("cnndm", "FRANK", "older"): _row(523, 0.704, 0.670, 0.692, 0.727, 0.773),
    Place("cnndm", "FRANK", "recent"): _row(175, 0.699, 0.626, 0.570, 0.601, 0.547),
    Place("cnndm", "FRANK", "transformers"): _row(175, 0.574, 0.556, 0.631, 0.634, 0.646),
    Place("cnndm", "FactCC", "older"): _row(503, 0.704, 0.655, 0.835, 0.891, 0.843),
    Place("cnndm", "Goyal21", "older"): _row(25, 0.188, 0.146, 0.375, 0.354, 0.271),
    Place("cnndm", "Polytope", "older"): _row(450, 0.779, 0.687, 0.802, 0.791, 0.824),
    Place("cnndm", "Polytope", "recent"): _row(34, 0.294, 0.176, 0.971, 0.735, 0.324),
    Place("cnndm", "Polytope", "transformers"): _row(150, 0.774, 0.733, 0.970, 0.811, 0.726),
    Place("cnndm", "SummEval", "older"): _row(548, 0.661, 0.649, 0.773, 0.801, 0.814),
    Place("cnndm", "SummEval", "recent"): _row(200, 0.452, 0.649, 0.622, 0.827, 0.652),
    Place("cnndm", "SummEval", "transformers"): _row(50, 0.760, 0.680, 0.620, 0.580, 0.740),
    Place("cnndm", "Wang20", "older"): _row(117, 0.586, 0.552, 0.655, 0.672, 0.754),
    Place("xsum", "CLIFF", "recent"): _row(150, 0.754, 0.619, 0.596, 0.666, 0.626),
    Place("xsum", "Cao22", "recent"): _row(239, 0.723, 0.601, 0.490, 0.668, 0.613),
    Place("xsum", "Goyal21", "recent"): _row(50, 0.644, 0.814, 0.466, 0.552, 0.754),
    Place("xsum", "Wang20", "recent"): _row(119, 0.756, 0.560, 0.698, 0.721, 0.756),
    Place("xsum", "XSumFaith", "older"): _row(430, 0.834, 0.597, 0.533, 0.675, 0.605),
    Place("xsum", "XSumFaith", "transformers"): _row(423, 0.855, 0.601, 0.514, 0.646, 0.596),
}
