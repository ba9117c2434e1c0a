"""What scores of inconsistent summaries gain by a copied sentence, and by the removal of an error: the
summaries of RAGTruth with an error, edited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.shared.benchmark import Benchmark
from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.frames import Frames, each_column, with_interval
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.shared.tables import with_interval_texts
from estime_metric.studies.tables import Column, Table
from experiments.benchmarks.ragtruth import data as ragtruth
from experiments.benchmarks.resamples import Resamples
from experiments.benchmarks.tables import measure_table

ANNOUNCEMENT = "This is the summary of the article."
#: Edits, in the order of tables.
ONE, THREE, ANNOUNCED, DELETED = EDITS = (
    "first sentence of the source appended",
    "first three sentences of the source appended",
    f'"{ANNOUNCEMENT}" appended',
    "one marked span deleted",
)
#: In place of an edit: the summary as it was written.
WRITTEN = "as written"
CHANGES = "changes.csv"


def read(folder: str | Path, limit: int | None = None) -> Summaries:
    """The summaries of RAGTruth with an error, each as written and edited.

    The ``document`` of a key is the article, a slash, the system; the ``system`` is the edit, with a
    number if a summary has several spans. Further columns are the ``article`` and the ``edit``, one
    of `EDITS` or `WRITTEN`. Arguments and errors as for `ragtruth.data.read`.
    """
    data = ragtruth.read(folder, limit)
    wrong = data.table[data.table["label"] == 0]
    rows = []
    for row in wrong.itertuples():
        for number, (edit, text) in enumerate(versions(row.summary, row.source, row.places)):
            rows.append(
                {
                    "document": f"{row.document}/{row.system}",
                    "system": f"{edit}, {number}" if edit == DELETED else edit,
                    "article": row.document,
                    "edit": edit,
                    "source": row.source,
                    "summary": text,
                }
            )
    return Summaries(origin=data.origin, table=pd.DataFrame(rows))


def versions(summary: str, source: str, places: list[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """The summary as written, then each edit of it; a span is not deleted if nothing remains.

    Example:
        >>> made = dict(versions("Anna sold it.", "Anna bought it. She left. It rained.", [(5, 9)]))
        >>> made["one marked span deleted"], made["first sentence of the source appended"]
        ('Anna it.', 'Anna sold it. Anna bought it.')
    """
    sentences = re.split(r"(?<=[.!?])\s+", source.strip())
    yield WRITTEN, summary
    yield ONE, f"{summary} {sentences[0]}"
    yield THREE, " ".join([summary, *sentences[:3]])
    yield ANNOUNCED, f"{summary} {ANNOUNCEMENT}"
    for start, end in places:
        rest = " ".join((summary[:start] + summary[end:]).split())
        if rest:
            yield DELETED, rest


def analyze(scores: Scores[Summaries], *, resamples: int = 1000, seed: int = 0) -> Frames:
    """How each edit changes each measure.

    ``changes.csv``: ``column``, ``measure``, ``section``, ``edit``, ``edits`` (how many summaries were
    edited so), the mean ``change`` with the ends of its 95% interval over articles, ``change_low``
    and ``change_high``, and ``better``, the share of the edits after which the score is better.
    """
    table = scores.data.table
    articles = Resamples(table["article"], resamples, seed)
    written = table[table["edit"] == WRITTEN].reset_index().set_index("document")["index"]
    before = written[table["document"]].to_numpy()

    def rows_of(column: ScoreColumn) -> Iterator[dict[str, Any]]:
        values, oriented = scores.values[column.name], scores.oriented(column)
        changes = pd.Series(values - values[before])
        better = pd.Series(oriented > oriented[before])
        for edit in EDITS:
            inside = changes[table["edit"] == edit].dropna()
            weights = articles.weights(inside.index)
            with np.errstate(invalid="ignore"):  # of no edit
                drawn = weights @ inside.to_numpy() / weights.sum(axis=1)
            yield {
                "edit": edit,
                "edits": len(inside),
                **with_interval(drawn, "change"),
                "better": float(better[inside.index].mean()),
            }

    names = ["edit", "edits", "change", "change_low", "change_high", "better"]
    return {CHANGES: each_column(scores, rows_of, names)}


def make_tables(scores: Scores[Summaries], frames: Frames) -> list[Table]:
    """``limits``: the mean change by each edit, and the share of better scores."""
    frame = with_interval_texts(frames[CHANGES], "change", decimals=3)
    counts = scores.data.table["edit"].value_counts()
    shown = {}
    for edit in EDITS:
        group = f"{edit} ({counts.get(edit, 0)})"
        shown["change", edit] = Column("change", group)
        shown["change_interval", edit] = Column("95% interval", group, text=True)
        shown["better", edit] = Column("better", group)
    notes = (
        f"{scores.data.origin}, {counts.get(WRITTEN, 0)} summaries with an error. Change: the mean score after the edit "
        "minus the mean before it. Better: the share of the edits after which the score is better (lower for rows with "
        "(-)). Intervals: percentiles of a bootstrap over articles.",
        *scores.gaps,
        *scores.remarks,
    )
    title = "What a copied sentence and the removal of an error change."
    return [measure_table("limits", title, scores, frame, ["edit"], shown, notes)]


BENCHMARK = Benchmark(read, analyze, make_tables)
