"""AggreFact's tables for readers: accuracies, areas, and all cells with thresholds and intervals."""

from __future__ import annotations

import pandas as pd

from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import with_interval_texts
from estime_metric.studies.tables import Column, Section, Table
from experiments.benchmarks.aggrefact.data import ORIGINS, PLACE, AggreFact, Place
from experiments.benchmarks.aggrefact.published import DETECTORS, TABLE_8
from experiments.benchmarks.detection import DETECTION, MEAN, by_part, notes


def make_tables(scores: Scores[AggreFact], frames: Frames) -> list[Table]:
    """``aggrefact`` (balanced accuracies), ``aggrefact-area``, ``aggrefact-cells`` (intervals,
    thresholds).
    """
    frame = frames[DETECTION]
    counts = frame.groupby(PLACE, sort=False)["summaries"].max()
    columns = {
        place: Column(f"{place[1]} {place[2]} ({count})", ORIGINS[place[0]])
        for place, count in counts.items()
        if MEAN not in place
    }
    all_notes = _notes(scores, frame)
    titles = {
        "accuracy": (
            "aggrefact",
            "AggreFact: balanced accuracy on test, thresholds chosen on val.",
        ),
        "area": ("aggrefact-area", "AggreFact: area under the ROC curve on test."),
    }
    tables = [
        by_part(name, title, scores, frame, PLACE, value, columns, all_notes)
        for value, (name, title) in titles.items()
    ]
    return [*tables, _cells(frame, all_notes)]


def _cells(frame: pd.DataFrame, all_notes: tuple[str, ...]) -> Table:
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
    for place, cell_rows in texts.groupby(PLACE, sort=False):
        name = MEAN if MEAN in place else Place(*place).name
        title = f"{name}: {cell_rows['summaries'].max()} summaries"
        sections.append(Section(title, list(cell_rows[list(shown)].itertuples(index=False))))
    title = "AggreFact: all that was found in each cell."
    return Table("aggrefact-cells", title, list(shown.values()), sections, all_notes)


def _notes(scores: Scores[AggreFact], frame: pd.DataFrame) -> tuple[str, ...]:
    left_out = scores.data.left_out
    return (
        f"Data: {scores.data.origin}, {len(scores.data)} summaries. Classes of systems: Tang et al. (2023). In "
        "brackets: summaries in the test split.",
        *([f"Excluded, since they have no class or split: {left_out}."] if left_out else []),
        _about_published(frame),
        *notes(scores),
    )


def _about_published(frame: pd.DataFrame) -> str:
    """How far accuracies of the detectors' scores are from the printed ones."""
    apart = [
        abs(row.accuracy - TABLE_8.loc[place, row.measure])
        for row in frame[frame["column"].str.startswith("published:")].itertuples()
        if row.measure in DETECTORS
        and (place := Place(row.origin, row.dataset, row.group)) in TABLE_8.index
    ]
    if apart:
        return f"Published detectors: from their scores in the data, at most {max(apart):.3f} from what is printed."
    return "Published detectors: accuracies as printed (Tang et al. 2023, table 8), a threshold for each cell."
