"""AggreFact's tables for readers: accuracies, areas, all cells, and flagged words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from estime_metric.report.tables import Cell, Column, Section, Table
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import (
    TITLES,
    measure_table,
    with_interval_texts,
)
from experiments.benchmarks.aggrefact.data import ORIGINS, AggreFact, Place
from experiments.benchmarks.aggrefact.published import DETECTORS, TABLE_8
from experiments.benchmarks.aggrefact.statistics import DETECTION, MEAN, PLACE
from experiments.benchmarks.aggrefact.words import signals

#: With more cells than this only their means get a column.
WIDE = 8
#: Where ranges of margins begin, as shares of the best similarity.
MARGINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
_SIGNALS = ("flagged", "precision", "recall", "lift")


def make_tables(scores: Scores[AggreFact], frames: Frames) -> list[Table]:
    """``aggrefact`` (balanced accuracies), ``aggrefact-area``, ``aggrefact-cells`` (intervals,
    thresholds).
    """
    frame = frames[DETECTION]
    notes = _notes(scores, frame)
    accuracy = "AggreFact: balanced accuracy on test, thresholds chosen on val."
    area = "AggreFact: area under the ROC curve on test."
    return [
        _by_cell(frame, "accuracy", "aggrefact", accuracy, notes),
        _by_cell(frame, "area", "aggrefact-area", area, notes),
        _cells(frame, notes),
    ]


def _by_cell(
    frame: pd.DataFrame, value: str, name: str, title: str, notes: tuple[str, ...]
) -> Table:
    """A row per measure, a column per cell; if there are too many cells, per mean."""
    counts = frame.groupby(PLACE, sort=False)["summaries"].max()
    places = [Place(*place) for place in counts.index]
    if len(places) > WIDE:
        places = [place for place in places if place.dataset == MEAN]
    shown = {
        (value, *place): Column(
            f"{place.dataset} {place.group} ({counts[place]})", ORIGINS[place.origin]
        )
        for place in places
    }
    measures = frame[frame[value].notna()].drop_duplicates("column")
    labels = {
        title: dict(measures.loc[measures["section"] == section, ["column", "measure"]].to_numpy())
        for section, title in TITLES.items()
    }
    return measure_table(name, title, frame, PLACE, shown, labels, notes)


def _cells(frame: pd.DataFrame, notes: tuple[str, ...]) -> Table:
    """A section per cell, with thresholds and intervals."""
    shown = {
        "measure": Column("measure", text=True),
        "threshold": Column("threshold", decimals=4),
        "accuracy": Column("accuracy"),
        "accuracy_interval": Column("95% interval", "accuracy", text=True),
        "area": Column("area"),
        "area_interval": Column("95% interval", "area", text=True),
    }
    texts = with_interval_texts(frame, "accuracy", "area")
    sections = []
    for place, of_cell in texts.groupby(PLACE, sort=False):
        title = f"{Place(*place).name}: {of_cell['summaries'].max()} summaries"
        sections.append(Section(title, list(of_cell[list(shown)].itertuples(index=False))))
    title = "AggreFact: all that was found in each cell."
    return Table("aggrefact-cells", title, list(shown.values()), sections, notes)


def _notes(scores: Scores[AggreFact], frame: pd.DataFrame) -> tuple[str, ...]:
    left_out = scores.data.left_out
    return (
        f"Data: {scores.data.origin}, {len(scores.data)} summaries. Classes of systems: Tang et al. (2023). In "
        "brackets: summaries in the test split, by which means are weighted. (-): negated, higher is better. "
        "Intervals: bootstrap over documents, with the threshold kept.",
        *([f"Excluded, since they have no class or split: {left_out}."] if left_out else []),
        *scores.gaps,
        _about_published(frame),
        *scores.remarks,
    )


def _about_published(frame: pd.DataFrame) -> str:
    """How far accuracies of the detectors' scores are from the printed ones."""
    apart = [
        abs(row.accuracy - TABLE_8[place].accuracies[row.measure])
        for row in frame[frame["column"].str.startswith("published:")].itertuples()
        if row.measure in DETECTORS
        and (place := Place(row.origin, row.dataset, row.group)) in TABLE_8
    ]
    if apart:
        return f"Published detectors: from their scores in the data, at most {max(apart):.3f} from what is printed."
    return "Published detectors: accuracies as printed (Tang et al. 2023, table 8), a threshold for each cell."


def make_word_tables(parts: Mapping[str, pd.DataFrame], split: str, signature: str) -> list[Table]:
    """``words``: what is flagged next to what is marked; ``words-margins``: alarms by the size of
    their margin.

    Args:
        parts: see `words.parts`.
        split: of CLIFF, for the notes.
        signature: of the explanations, for the notes.
    """
    notes = (
        f"CLIFF, {split}; words, including punctuation, compared with those that annotators marked as errors. Lift: "
        "precision divided by the share of marked words among those that could be flagged; alarms: those that the "
        "source has.",
        signature,
    )
    flags = [
        Section(
            f"{part}: {len(words)} words, {words['marked'].mean():.1%} marked",
            [
                (flag, *(values[name] for name in _SIGNALS))
                for flag, values in signals(words).items()
            ],
        )
        for part, words in parts.items()
    ]
    title = "Word by word: alarms and absent words compared with marked words."
    columns = [Column("flagged words", text=True), *map(Column, _SIGNALS)]
    return [Table("words", title, columns, flags, notes), _margin_table(parts, notes)]


def _margin_table(parts: Mapping[str, pd.DataFrame], notes: Sequence[str]) -> Table:
    ranges = [f"{least:.0%} to {end:.0%}" for least, end in pairwise(MARGINS)]
    ranges.append(f"from {MARGINS[-1]:.0%}")
    rows: list[tuple[Cell, ...]] = []
    for part, words in parts.items():
        alarms = words[words["verdict"] == "alarm"]
        of_range = pd.cut(alarms["margin"].abs(), [*MARGINS, np.inf], right=False)
        rows.append((part, *alarms["marked"].groupby(of_range, observed=False).mean()))
    columns = [Column("alarms with a margin of", text=True), *map(Column, ranges)]
    about = ("A margin is a share of the best similarity.", *notes)
    title = "Share of alarms that are marked, by margin."
    return Table("words-margins", title, columns, [Section("", rows)], about)
