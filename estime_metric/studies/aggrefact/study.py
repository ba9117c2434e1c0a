"""How well scores tell consistent summaries from others: thresholds from ``val``, accuracies on ``test``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from estime_metric.meta import resampling
from estime_metric.meta.checks import Floats
from estime_metric.meta.detection import areas, balanced_accuracies, choose_threshold
from estime_metric.meta.resampling import interval
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.aggrefact.data import CLASSES, ORIGINS, AggreFact, place_name
from estime_metric.studies.aggrefact.printed import DETECTORS, TABLE_8
from estime_metric.studies.shared.baselines import trivial_block
from estime_metric.studies.shared.estime_block import estime_block
from estime_metric.studies.shared.scoring import OWN, REFERENCE_FREE, TRIVIAL, Block, Measure, Prepared, Scores
from estime_metric.studies.shared.study import Frames
from estime_metric.tables import Column, Section, Table
from estime_metric.tables import interval as interval_cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Section of the detectors whose scores or accuracies are the authors'.
PUBLISHED = "Published detectors"

#: Sections of the tables, in order, each with its title.
SECTIONS = {REFERENCE_FREE: "Measured here", TRIVIAL: "Trivial, measured here", OWN: "From files", PUBLISHED: PUBLISHED}

#: The tidy table.
DETECTION = "detection.csv"

#: In place of a data set: the mean of those of an origin and a class, weighted by their summaries.
MEAN = "mean"

#: More columns than this do not fit beside each other: then only the means have some.
WIDE = 8

#: Columns of a cell.
PLACE = ["origin", "dataset", "group"]

_CONFIDENCE = 0.95


def blocks(scorer: EstimeScorer, data: AggreFact, *, progress: bool = False) -> list[Block]:
    """ESTIME with every measure that the scorer computes, trivial measures, and the detectors that the data score.

    Args:
        scorer: with its configuration.
        data: names the detectors; of those that it has no scores of, the printed accuracies are shown.
        progress: the scorer's own bar.

    Raises:
        EncoderUnavailableError, ValueError: as `EstimeScorer`.
    """
    published = {name: Measure(f"published:{name}", name, PUBLISHED) for name in data.published}
    found = [estime_block(scorer, every_measure=True, progress=progress), trivial_block()]
    if published:
        found.append(
            Block(
                PUBLISHED,
                tuple(published.values()),
                lambda: Prepared(
                    f"AGGREFACT|{data.digest}",
                    lambda scored, _: {one.column: scored.table[name].to_numpy() for name, one in published.items()},
                ),
            )
        )
    return found


def analyze(scores: Scores[AggreFact], *, resamples: int, seed: int, advance: Callable[[], object]) -> Frames:
    """Each measure in each cell: origin of the articles, data set, class of systems.

    The threshold is chosen on ``val`` (`detection.choose_threshold`); accuracy and area are those of ``test``, with 95%
    intervals of a bootstrap over documents, the threshold held. A cell without one of the halves is left out, as is a
    summary without a score.

    Returns:
        ``detection.csv``: ``column``, ``measure``, ``section``, ``origin``, ``dataset`` (`MEAN` for the mean of the
        cells of an origin and a class), ``group`` (the class), ``summaries``, ``threshold``, ``accuracy``, ``low``,
        ``high``, ``area``, ``area_low``, ``area_high``. Of printed detectors there is the accuracy alone.
    """
    samples = _Samples(scores.data, resamples, seed)
    rows: list[dict[str, Any]] = []
    for one in scores.known:
        found = list(_detected(scores, one, samples))
        head = {"column": one.column, "measure": one.label, "section": one.section}
        rows += [{**head, **row} for row in _with_means(found)]
        advance()
    for name in DETECTORS:
        if name not in scores.data.published:
            head = {"column": f"printed:{name}", "measure": f"{name}, printed", "section": PUBLISHED}
            rows += [{**head, **row} for row in _with_means(list(_printed(scores.data, name)))]
    return {DETECTION: pd.DataFrame(rows)}


@dataclass(frozen=True)
class _Cell:
    """What was found in a cell, the sample itself first and then every resample."""

    place: dict[str, str]
    summaries: int
    threshold: float
    accuracies: Floats
    areas: Floats

    def row(self) -> dict[str, Any]:
        accuracy, area = (interval(values[1:], _CONFIDENCE) for values in (self.accuracies, self.areas))
        return {
            **self.place,
            "summaries": self.summaries,
            "threshold": self.threshold,
            **dict(zip(("accuracy", "low", "high"), (float(self.accuracies[0]), *accuracy[:2]), strict=True)),
            **dict(zip(("area", "area_low", "area_high"), (float(self.areas[0]), *area[:2]), strict=True)),
        }


class _Samples:
    """Resamples of the documents, the same for every measure; the sample itself first."""

    def __init__(self, data: AggreFact, resamples: int, seed: int) -> None:
        drawn = resampling.draw((len(data.documents), 1), "documents", resamples, seed)[0]
        assert drawn is not None
        self._drawn: Floats = np.concatenate([np.ones((1, drawn.shape[1])), drawn])
        codes = {name: number for number, name in enumerate(data.documents)}
        self._document = data.table["document"].map(codes).to_numpy()

    def weights(self, rows: np.ndarray[Any, Any]) -> Floats:
        """How often the samples take some summaries."""
        return self._drawn[:, self._document[rows]]


def _detected(scores: Scores[AggreFact], measure: Measure, samples: _Samples) -> Iterator[_Cell]:
    values = scores.oriented(measure)
    labels = scores.data.table["label"].to_numpy(dtype=np.int64)
    for (origin, dataset, group), table in scores.data.cells():
        scored = table[np.isfinite(values[table.index])]
        val, test = (scored.index[scored["split"] == split].to_numpy() for split in ("val", "test"))
        if len(val) and len(test):
            threshold = choose_threshold(labels[val], values[val])
            weights = samples.weights(test)
            yield _Cell(
                {"origin": origin, "dataset": dataset, "group": group},
                len(test),
                threshold,
                balanced_accuracies(labels[test], values[test] > threshold, weights),
                areas(labels[test], values[test], weights),
            )


def _printed(data: AggreFact, name: str) -> Iterator[_Cell]:
    for (origin, dataset, group), _ in data.cells():
        if (origin, dataset, group) in TABLE_8:
            count, values = TABLE_8[origin, dataset, group]
            nothing = np.array([np.nan])
            place = {"origin": origin, "dataset": dataset, "group": group}
            yield _Cell(place, count, np.nan, np.array([values[DETECTORS.index(name)]]), nothing)


def _with_means(cells: list[_Cell]) -> Iterator[dict[str, Any]]:
    """The cells, and the means of those of an origin and a class where there are several."""
    for cell in cells:
        yield cell.row()
    for origin in ORIGINS:
        for group in CLASSES:
            some = [cell for cell in cells if (cell.place["origin"], cell.place["group"]) == (origin, group)]
            if len(some) > 1:
                shares = np.array([cell.summaries for cell in some]) / sum(cell.summaries for cell in some)
                yield _Cell(
                    {"origin": origin, "dataset": MEAN, "group": group},
                    sum(cell.summaries for cell in some),
                    np.nan,
                    np.array(sum(share * cell.accuracies for share, cell in zip(shares, some, strict=True))),
                    np.array(sum(share * cell.areas for share, cell in zip(shares, some, strict=True))),
                ).row()


def tables(scores: Scores[AggreFact], frames: Frames) -> list[Table]:
    """``aggrefact`` (balanced accuracies), ``aggrefact-area``, ``aggrefact-cells`` (intervals, thresholds)."""
    found = frames[DETECTION]
    notes = _notes(scores, found)
    return [
        _beside(found, "accuracy", "aggrefact", "balanced accuracy on test, thresholds chosen on val", notes),
        _beside(found, "area", "aggrefact-area", "area under the ROC curve on test", notes),
        _below(found, notes),
    ]


def _beside(found: pd.DataFrame, value: str, name: str, what: str, notes: tuple[str, ...]) -> Table:
    """A row for each measure, a column for each cell; for each mean where there are too many cells."""
    counts = found.groupby(PLACE, sort=False)["summaries"].max()
    places = [place for place in counts.index if len(counts) <= WIDE or place[1] == MEAN]
    heads = [
        Column(f"{dataset} {group} ({counts[origin, dataset, group]})", ORIGINS[origin])
        for origin, dataset, group in places
    ]
    sections = []
    for section, title in SECTIONS.items():
        of_it = found[(found["section"] == section) & found[value].notna()]
        values = of_it.pivot(index="column", columns=PLACE, values=value)
        labels = dict(zip(of_it["column"], of_it["measure"], strict=True))
        rows = [(label, *(values.loc[column].get(place) for place in places)) for column, label in labels.items()]
        sections += [Section(title, tuple(rows))] if rows else []
    return Table(name, f"AggreFact: {what}.", (Column("measure", text=True), *heads), tuple(sections), notes)


def _below(found: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    """A section for each cell, a row for each measure."""
    columns = (
        Column("measure", text=True),
        Column("threshold", decimals=4),
        Column("accuracy"),
        Column("95% interval", "accuracy", text=True),
        Column("area"),
        Column("95% interval", "area", text=True),
    )
    sections = []
    for (origin, dataset, group), rows in found.groupby(PLACE, sort=False):
        title = f"{place_name(origin, dataset, group)}: {rows['summaries'].max()} summaries"
        cells = tuple(
            (
                row.measure,
                row.threshold,
                row.accuracy,
                interval_cell(row.low, row.high),
                row.area,
                interval_cell(row.area_low, row.area_high),
            )
            for row in rows.itertuples()
        )
        sections.append(Section(title, cells))
    return Table("aggrefact-cells", "AggreFact: all that was found in each cell.", columns, tuple(sections), notes)


def _notes(scores: Scores[AggreFact], found: pd.DataFrame) -> tuple[str, ...]:
    missing = {one.label: int(np.isnan(scores.values[one.column]).sum()) for one in scores.known}
    gaps = ", ".join(f"{label} {number}" for label, number in missing.items() if number)
    return (
        f"Data: {scores.data.origin}, {len(scores.data)} summaries. Classes of systems: Tang et al. (2023). In "
        "brackets: summaries in the test half, by which means are weighted. (-): negated, higher is better. Intervals: "
        "bootstrap over documents, the threshold held.",
        *([f"Of no class or half, left out: {scores.data.left_out}."] if scores.data.left_out else []),
        *([f"Summaries without a score, left out of that row: {gaps}."] if gaps else []),
        *_as_printed(found),
        *scores.remarks,
    )


def _as_printed(found: pd.DataFrame) -> Iterator[str]:
    """How far accuracies of the detectors' scores are from the printed ones."""
    rows = [row for row in found.itertuples() if row.column.startswith("published:") and row.measure in DETECTORS]
    apart = [
        abs(row.accuracy - TABLE_8[place][1][DETECTORS.index(row.measure)])
        for row in rows
        if (place := (row.origin, row.dataset, row.group)) in TABLE_8
    ]
    if apart:
        yield f"Published detectors: from their scores in the data, at most {max(apart):.3f} from what is printed."
    else:
        yield "Published detectors: accuracies as printed (Tang et al. 2023, table 8), a threshold for each cell."


def draw(scores: Scores[AggreFact], frames: Frames, *, seed: int) -> Iterator[tuple[str, Figure]]:
    """``areas``: every measure's area with its interval, a panel for each cell.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from estime_metric.meta.plots.style import COLOURS, GREY, LABEL, TICK, WIDTH, make_plain, new_figure, set_title

    found = frames[DETECTION]
    found = found[found["area"].notna()]
    places = dict(list(found.groupby(PLACE, sort=False))[:WIDE])
    labels = list(dict.fromkeys(found["measure"]))[::-1]
    figure = new_figure(WIDTH + 2 * max(0, len(places) - 2), 1.2 + 0.17 * len(labels))
    panels = figure.subplots(1, len(places), sharex=True, sharey=True, squeeze=False)[0]
    for axes, ((origin, dataset, group), here) in zip(panels, places.items(), strict=True):
        for row in here.itertuples():
            height, colour = labels.index(row.measure), GREY if row.section == TRIVIAL else COLOURS[0]
            axes.plot([row.area_low, row.area_high], [height, height], color=colour, linewidth=1.2)
            axes.plot(row.area, height, "o", color=colour, markersize=3.5)
        axes.axvline(0.5, color=GREY, linewidth=0.6)
        set_title(axes, f"{dataset}, {ORIGINS[origin]}\n{group}")
        make_plain(axes)
    panels[0].set_yticks(range(len(labels)), labels, fontsize=TICK)
    figure.supxlabel("area under the ROC curve, 95% intervals; grey: trivial measures", fontsize=LABEL)
    yield "areas", figure
