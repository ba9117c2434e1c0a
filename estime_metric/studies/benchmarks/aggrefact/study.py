"""How well scores tell consistent summaries from others: thresholds from ``val``, accuracies on
``test``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from estime_metric.comparison.checks import Floats
from estime_metric.comparison.detection import areas, balanced_accuracies, choose_threshold
from estime_metric.comparison.resampling import interval
from estime_metric.comparison.tables import Column, Section, Table
from estime_metric.comparison.tables import interval as interval_cell
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.aggrefact.data import CLASSES, ORIGINS, AggreFact, place_name
from estime_metric.studies.benchmarks.shared import study as shared
from estime_metric.studies.benchmarks.shared.baselines import trivial_block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.scoring import (
    OWN,
    REFERENCE_FREE,
    TRIVIAL,
    Block,
    Measure,
    Scores,
    published_block,
)
from estime_metric.studies.benchmarks.shared.study import Frames, Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Section of the detectors whose scores or accuracies are the authors'.
PUBLISHED = "Published detectors"
SECTIONS = {
    REFERENCE_FREE: "Measured here",
    TRIVIAL: "Trivial, measured here",
    OWN: "From files",
    PUBLISHED: PUBLISHED,
}
DETECTION = "detection.csv"
#: In place of a data set: the mean of those of an origin and a class, weighted by their summaries.
MEAN = "mean"
#: More columns than this do not fit beside each other: then only the means have some.
WIDE = 8
PLACE = ["origin", "dataset", "group"]
DETECTORS = ("DAE", "QuestEval", "SummaC-ZS", "SummaC-Conv", "QAFactEval")
#: Their balanced accuracies on the test halves, a threshold for each row (Tang et al. 2023, table
#: 8; three digits from their notebook ``final_result.ipynb``): origin, data set, class of systems
#: -> test summaries, a value for each.
TABLE_8: dict[tuple[str, str, str], tuple[int, tuple[float, ...]]] = {
    ("cnndm", "CLIFF", "recent"): (150, (0.730, 0.740, 0.646, 0.649, 0.716)),
    ("cnndm", "FRANK", "older"): (523, (0.704, 0.670, 0.692, 0.727, 0.773)),
    ("cnndm", "FRANK", "recent"): (175, (0.699, 0.626, 0.570, 0.601, 0.547)),
    ("cnndm", "FRANK", "transformers"): (175, (0.574, 0.556, 0.631, 0.634, 0.646)),
    ("cnndm", "FactCC", "older"): (503, (0.704, 0.655, 0.835, 0.891, 0.843)),
    ("cnndm", "Goyal21", "older"): (25, (0.188, 0.146, 0.375, 0.354, 0.271)),
    ("cnndm", "Polytope", "older"): (450, (0.779, 0.687, 0.802, 0.791, 0.824)),
    ("cnndm", "Polytope", "recent"): (34, (0.294, 0.176, 0.971, 0.735, 0.324)),
    ("cnndm", "Polytope", "transformers"): (150, (0.774, 0.733, 0.970, 0.811, 0.726)),
    ("cnndm", "SummEval", "older"): (548, (0.661, 0.649, 0.773, 0.801, 0.814)),
    ("cnndm", "SummEval", "recent"): (200, (0.452, 0.649, 0.622, 0.827, 0.652)),
    ("cnndm", "SummEval", "transformers"): (50, (0.760, 0.680, 0.620, 0.580, 0.740)),
    ("cnndm", "Wang20", "older"): (117, (0.586, 0.552, 0.655, 0.672, 0.754)),
    ("xsum", "CLIFF", "recent"): (150, (0.754, 0.619, 0.596, 0.666, 0.626)),
    ("xsum", "Cao22", "recent"): (239, (0.723, 0.601, 0.490, 0.668, 0.613)),
    ("xsum", "Goyal21", "recent"): (50, (0.644, 0.814, 0.466, 0.552, 0.754)),
    ("xsum", "Wang20", "recent"): (119, (0.756, 0.560, 0.698, 0.721, 0.756)),
    ("xsum", "XSumFaith", "older"): (430, (0.834, 0.597, 0.533, 0.675, 0.605)),
    ("xsum", "XSumFaith", "transformers"): (423, (0.855, 0.601, 0.514, 0.646, 0.596)),
}


def blocks(scorer: EstimeScorer, data: AggreFact, *, progress: bool = False) -> list[Block]:
    """ESTIME with every measure that the scorer computes, trivial measures, and the detectors that
    the data score.

    Of detectors without scores in ``data`` the printed accuracies are shown. ``progress``: the
    scorer's own bar.
    """
    published = {
        f"published:{name}": (name, data.table[name].to_numpy()) for name in data.published
    }
    found = [estime_block(scorer, every_measure=True, progress=progress), trivial_block()]
    if published:
        found.append(published_block(PUBLISHED, PUBLISHED, f"AGGREFACT|{data.digest}", published))
    return found


def analyze(scores: Scores[AggreFact], *, resamples: int, seed: int) -> Frames:
    """Each measure in each cell: origin of the articles, data set, class of systems.

    The threshold is chosen on ``val`` (`detection.choose_threshold`); accuracy and area are those
    of ``test``, with 95% intervals of a bootstrap over documents, the threshold held. A cell
    without one of the halves is left out, as is a summary without a score.

    ``detection.csv``: ``column``, ``measure``, ``section``, ``origin``, ``dataset`` (`MEAN` for the
    mean of the cells of an origin and a class), ``group`` (the class), ``summaries``,
    ``threshold``, ``accuracy``, ``low``, ``high``, ``area``, ``area_low``, ``area_high``. Of
    printed detectors there is the accuracy alone.
    """
    weights = shared.document_weights(scores.data, resamples, seed)
    rows: list[tuple[Any, ...]] = []
    for one in scores.analyzed():
        rows += _rows(one, _detected(scores, one, weights))
    for name in DETECTORS:
        if name not in scores.data.published:
            rows += _rows(
                Measure(f"printed:{name}", f"{name}, printed", PUBLISHED),
                _printed(scores.data, name),
            )
    values = ["summaries", "threshold", "accuracy", "low", "high", "area", "area_low", "area_high"]
    return {DETECTION: pd.DataFrame(rows, columns=[*shared.IDS, *PLACE, *values])}


class _Cell(NamedTuple):
    """What was found in a cell, the sample itself first and then every resample."""

    place: tuple[str, str, str]
    summaries: int
    threshold: float
    accuracies: Floats
    areas: Floats


def _detected(
    scores: Scores[AggreFact], measure: Measure, weights: Callable[[Any], Floats]
) -> Iterator[_Cell]:
    values = scores.oriented(measure)
    labels = scores.data.table["label"].to_numpy(dtype=np.int64)
    for place, table in scores.data.cells():
        scored = table[np.isfinite(values[table.index])]
        val, test = (scored.index[scored["split"] == split].to_numpy() for split in ("val", "test"))
        if len(val) and len(test):
            threshold, drawn = choose_threshold(labels[val], values[val]), weights(test)
            accuracies = balanced_accuracies(labels[test], values[test] > threshold, drawn)
            yield _Cell(
                place, len(test), threshold, accuracies, areas(labels[test], values[test], drawn)
            )


def _printed(data: AggreFact, name: str) -> Iterator[_Cell]:
    for place, _ in data.cells():
        if place in TABLE_8:
            count, values = TABLE_8[place]
            yield _Cell(
                place, count, np.nan, np.array([values[DETECTORS.index(name)]]), np.array([np.nan])
            )


def _rows(measure: Measure, found: Iterable[_Cell]) -> Iterator[tuple[Any, ...]]:
    """The cells, and the means of those of an origin and a class where there are several, weighted
    by summaries.
    """
    cells = list(found)
    for origin, group in product(ORIGINS, CLASSES):
        some = [cell for cell in cells if (cell.place[0], cell.place[2]) == (origin, group)]
        if len(some) > 1:
            total = sum(cell.summaries for cell in some)
            accuracies, of_areas = (
                np.array(
                    sum(
                        cell.summaries / total * values
                        for cell, values in zip(some, of_each, strict=True)
                    )
                )
                for of_each in ([cell.accuracies for cell in some], [cell.areas for cell in some])
            )
            cells.append(_Cell((origin, MEAN, group), total, np.nan, accuracies, of_areas))
    for cell in cells:
        row = (
            measure.column,
            measure.label,
            measure.section,
            *cell.place,
            cell.summaries,
            cell.threshold,
        )
        ends = [
            (float(values[0]), *interval(values[1:], 0.95)[:2])
            for values in (cell.accuracies, cell.areas)
        ]
        yield (*row, *ends[0], *ends[1])


def tables(scores: Scores[AggreFact], frames: Frames) -> list[Table]:
    """``aggrefact`` (balanced accuracies), ``aggrefact-area``, ``aggrefact-cells`` (intervals,
    thresholds).
    """
    found = frames[DETECTION]
    notes = _notes(scores, found)
    accuracy, area = (
        "balanced accuracy on test, thresholds chosen on val",
        "area under the ROC curve on test",
    )
    return [
        _beside(found, "accuracy", "aggrefact", accuracy, notes),
        _beside(found, "area", "aggrefact-area", area, notes),
        _below(found, notes),
    ]


def _beside(found: pd.DataFrame, value: str, name: str, what: str, notes: tuple[str, ...]) -> Table:
    """A row for each measure, a column for each cell; for each mean where there are too many cells."""
    counts = found.groupby(PLACE, sort=False)["summaries"].max()
    places = [place for place in counts.index if len(counts) <= WIDE or place[1] == MEAN]
    shown = [
        Shown(Column(f"{place[1]} {place[2]} ({counts[place]})", ORIGINS[place[0]]), place, value)
        for place in places
    ]
    names = found[found[value].notna()].drop_duplicates("column")
    labels = {
        section: list(zip(of["column"], of["measure"], strict=True))
        for section, of in names.groupby("section")
    }
    rows = shared.lookup(found, "column", *PLACE)
    parts = [(title, rows, labels.get(section, [])) for section, title in SECTIONS.items()]
    return shared.measure_table(name, f"AggreFact: {what}.", shown, parts, notes)


def _below(found: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    columns = [Column("measure", text=True), Column("threshold", decimals=4)]
    for value in ("accuracy", "area"):
        columns += [Column(value), Column("95% interval", value, text=True)]
    sections = []
    for place, rows in found.groupby(PLACE, sort=False):
        around = map(interval_cell, rows["low"], rows["high"])
        of_area = map(interval_cell, rows["area_low"], rows["area_high"])
        cells = zip(
            rows["measure"],
            rows["threshold"],
            rows["accuracy"],
            around,
            rows["area"],
            of_area,
            strict=True,
        )
        sections.append(
            Section(f"{place_name(*place)}: {rows['summaries'].max()} summaries", list(cells))
        )
    return Table(
        "aggrefact-cells", "AggreFact: all that was found in each cell.", columns, sections, notes
    )


def _notes(scores: Scores[AggreFact], found: pd.DataFrame) -> tuple[str, ...]:
    return (
        f"Data: {scores.data.origin}, {len(scores.data)} summaries. Classes of systems: Tang et al. (2023). In "
        "brackets: summaries in the test half, by which means are weighted. (-): negated, higher is better. Intervals: "
        "bootstrap over documents, the threshold held.",
        *(
            [f"Of no class or half, left out: {scores.data.left_out}."]
            if scores.data.left_out
            else []
        ),
        *scores.gaps,
        _as_printed(found),
        *scores.remarks,
    )


def _as_printed(found: pd.DataFrame) -> str:
    """How far accuracies of the detectors' scores are from the printed ones."""
    apart = [
        abs(row.accuracy - TABLE_8[place][1][DETECTORS.index(row.measure)])
        for row in found[
            found["column"].str.startswith("published:") & found["measure"].isin(DETECTORS)
        ].itertuples()
        if (place := (row.origin, row.dataset, row.group)) in TABLE_8
    ]
    if apart:
        return f"Published detectors: from their scores in the data, at most {max(apart):.3f} from what is printed."
    return "Published detectors: accuracies as printed (Tang et al. 2023, table 8), a threshold for each cell."


def draw(scores: Scores[AggreFact], frames: Frames, *, seed: int) -> Iterator[tuple[str, Figure]]:
    """``areas``: every measure's area with its interval, a panel for each cell."""
    found = frames[DETECTION]
    found = found[found["area"].notna()]
    found = found.assign(value=found["area"], low=found["area_low"], high=found["area_high"])
    found["grey"] = np.where(found["section"] == TRIVIAL, "o", "")
    labels = list(dict.fromkeys(found["measure"]))
    panels = {
        f"{dataset}, {ORIGINS[origin]}\n{group}": rows.set_index("measure").reindex(labels)
        for (origin, dataset, group), rows in list(found.groupby(PLACE, sort=False))[:WIDE]
    }
    caption = "area under the ROC curve, 95% intervals; grey: trivial measures"
    if panels:
        yield (
            "areas",
            shared.plot_intervals(panels, 0.5, caption, wider=2 * max(0, len(panels) - 2)),
        )
