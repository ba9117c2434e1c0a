"""The experiment of section 4: every measure compared, alarms located; and its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from estime_metric.comparison.checks import Floats
from estime_metric.comparison.tables import EMPTY, Cell, Column, Section, Table, interval
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import (
    divergence_block,
    rouge_block,
    trivial_block,
)
from estime_metric.studies.benchmarks.shared.estime_block import column_of, estime_block
from estime_metric.studies.benchmarks.shared.estime_paper import TABLE_3
from estime_metric.studies.benchmarks.shared.scoring import Block, Scores
from estime_metric.studies.benchmarks.shared.study import Frames
from estime_metric.studies.benchmarks.subtle_errors.dataset import Versions
from estime_metric.studies.benchmarks.subtle_errors.statistics import Sampler, agree, detect, rise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Measures whose rise with the number of errors is shown, and what they are called there.
SENSITIVE = {
    "alarms": "alarms",
    "alarm_rate": "alarm rate",
    "alarms_alltokens": "alarms, all tokens",
}
#: With fewer pairs an interval would say nothing: a resample of them mostly repeats the same few.
LEAST_PAIRS = 10
AGREEMENT, RISE, POSITIONS = "agreement.csv", "rise.csv", "positions.csv"
#: Lines of both panels of the figure of positions: column, label, colour, style, how far it is
#: moved aside.
PRECISION = (
    ("precision", "precision", "C0", "-", 0.0),
    ("precision_by_chance", "by chance", "0.5", "--", 0.06),
)
RECALL = (
    ("recall", "recall, checkable errors", "C0", "-", 0.0),
    ("recall_by_chance", "by chance", "0.5", "--", 0.06),
    ("recall_of_all", "recall, all errors", "C2", "-", -0.06),
    ("before", "all errors, same positions before", "C1", ":", -0.12),
)
#: A heading, the column of the tidy table under it, and whether its interval follows.
Shown = tuple[str, str, bool]


@dataclass(frozen=True)
class SubtleErrorsStudy:
    """The study, as `estime_metric.studies.benchmarks.shared.study.run` takes it (Vasilyev &
    Bohannon 2021, section 4).

    Args:
        scorer: has to compute all of `HIGHER_IS_BETTER`; of several layers the first one's alarms
            are located.
        baselines: compare with measures that need no model.
        progress: the scorer's own bars.
    """

    scorer: EstimeScorer
    baselines: bool = True
    progress: bool = False

    def blocks(self) -> list[Block]:
        """ESTIME with all measures, then Jensen-Shannon, trivial measures, and ROUGE against the
        source.
        """
        ours = estime_block(self.scorer, every_measure=True, progress=self.progress)
        return [
            ours,
            *([divergence_block(), trivial_block(), rouge_block(None)] if self.baselines else []),
        ]

    @property
    def layer(self) -> int:
        """The layer whose alarms are located."""
        return self.scorer.encoder.info.resolve(self.scorer.config).layer_tuple[0]

    def analyze(self, scores: Scores[Versions], *, resamples: int = 1000, seed: int = 0) -> Frames:
        """Three tidy tables, each number with the ends of its interval as ``NAME_low`` and
        ``NAME_high``.

        ``agreement.csv``: what `agree` gives for each number of errors and measure, over the pairs
        that have that many errors and a score. ``rise.csv``: what `rise` gives for the measures in
        `SENSITIVE`, over the pairs that have all errors. ``positions.csv``: what `detect` gives.
        """
        data, unit = scores.data, self.scorer.config.unit
        shape = (len(data.documents), len(data.systems))
        values = {one.column: scores.oriented(one).reshape(shape) for one in scores.known}
        agreement, rises = [], []
        for index, number in enumerate(data.numbers, start=1):
            rows = _agreements(values, [0, index], data.complete(number), resamples, seed)
            for one in scores.known:
                agreement.append(
                    {
                        "n_errors": number,
                        "column": one.column,
                        "measure": one.label,
                        **rows[one.column],
                    }
                )
        for name, label in SENSITIVE.items():
            if (column := column_of(name, self.layer, unit)) in scores.values:
                counts = scores.values[column].reshape(shape)
                pairs = _known(counts, data.complete(data.numbers[-1]))
                levels = rise(
                    counts[pairs], (0, *data.numbers), Sampler(len(pairs), resamples, seed)
                )
                rises += [{"measure": label, "pairs": len(pairs), **level} for level in levels]
        positions = self._positions(data, resamples, seed)
        return {
            AGREEMENT: pd.DataFrame(agreement),
            RISE: pd.DataFrame(rises),
            POSITIONS: pd.DataFrame(positions),
        }

    def _positions(self, data: Versions, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
        versions, texts = data.versions, (list(data.summaries), data.source_of_each)
        explained = self.scorer.explain_pairs(*texts, layer=self.layer, progress=self.progress)
        for index, number in enumerate(data.numbers, start=1):
            rows = [pair * len(data.systems) for pair in data.complete(number)]
            corrupted, spoiled = (
                [versions[row + index] for row in rows],
                [explained[row + index] for row in rows],
            )
            for one in detect(
                corrupted, spoiled, [explained[row] for row in rows], resamples=resamples, seed=seed
            ):
                yield {"n_errors": number, "pairs": len(rows), **one}

    def tables(self, scores: Scores[Versions], frames: Frames) -> list[Table]:
        """Table 3, the rise of alarms, precision and recall of their positions."""
        first = table_3(scores, frames[AGREEMENT]), rise_table(scores, frames[RISE], self.layer)
        return [*first, *position_tables(frames[POSITIONS], self.layer)]

    def draw(
        self, scores: Scores[Versions], frames: Frames, *, seed: int = 0
    ) -> Iterator[tuple[str, Figure]]:
        """``rise``: mean alarms by number of errors. ``positions``: precision and recall of alarms
        beside chance.
        """
        if len(alarms := frames[RISE].query("measure == 'alarms'")):
            yield "rise", _rise(alarms, self.layer)
        yield "positions", _positions(frames[POSITIONS], self.layer)


def _agreements(
    values: dict[str, Floats], columns: list[int], pairs: list[int], resamples: int, seed: int
) -> dict[str, dict[str, Any]]:
    """A row for each measure; one that lacks a score for some pairs stands over the others, as the
    first one does.
    """
    first, groups = next(iter(values)), dict[tuple[int, ...], list[str]]()
    for name, table in values.items():
        groups.setdefault(tuple(_known(table[:, columns], pairs)), []).append(name)
    found: dict[str, dict[str, Any]] = {}
    for kept, names in groups.items():
        sides = {
            name: tuple(values[name][list(kept)][:, columns].T)
            for name in dict.fromkeys([first, *names])
        }
        rows = agree(sides, Sampler(len(kept), resamples, seed), seed)
        found |= {name: rows[name] for name in names}
    return found


def _known(values: Floats, pairs: list[int]) -> list[int]:
    return [pair for pair in pairs if np.isfinite(values[pair]).all()]


def table_3(scores: Scores[Versions], frame: pd.DataFrame) -> Table:
    """Correlations of every measure with clean = 1 and corrupted = 0, beside the paper's as
    printed.
    """
    data = scores.data
    shown = [
        ("ρ", "spearman", True),
        ("τ-c", "kendall_c", False),
        ("ρ behind the first", "behind", True),
        ("AUC", "auc", True),
        ("clean preferred", "preferred", False),
        ("p", "p_value", False),
    ]
    sections = []
    for number, rows in frame.groupby("n_errors"):
        title = f"Measured: {_count(number, 'error')}, {_count(rows['pairs'].iloc[0], 'pair')}"
        sections.append(Section(title, _rows(rows, "measure", shown)))
    printed = [(name, rho, None, tau, *[None] * 6) for name, (rho, tau) in TABLE_3.items()]
    sections.append(
        Section(
            "Printed in the paper, not measured here: 3 errors, 2000 pairs of CNN/DailyMail",
            printed,
        )
    )
    pairs, complete = (
        len(data.documents),
        {number: len(data.complete(number)) for number in data.numbers},
    )
    notes = (
        "Higher is better; (-): the measure is negated. Behind the first: the first row's ρ less this one's. Clean "
        "preferred: share of the pairs in which the clean summary scores higher, ties half. p: paired test of the mean "
        "difference by approximate randomization, two-sided.",
        _about_intervals(frame),
        *(
            f"{_count(pairs - known, 'pair')} of {pairs} left out: too few whole words for {_count(number, 'error')}."
            for number, known in complete.items()
            if known < pairs
        ),
        f"Errors: {data.generator}",
        *scores.remarks,
    )
    title = "Subtle errors (Table 3 of the paper): correlation with clean = 1, corrupted = 0"
    return _table("table-3", title, Column("measure", text=True), shown, sections, notes)


def rise_table(scores: Scores[Versions], frame: pd.DataFrame, layer: int) -> Table:
    """How alarms rise with the number of errors."""
    shown = [
        ("mean", "mean", True),
        ("more than clean", "rise", True),
        ("more than the row above", "step", True),
        ("share with more less share with fewer", "more_less_fewer", True),
    ]
    sections, notes = [], [_about_intervals(frame)]
    for measure, rows in frame.groupby("measure", sort=False) if len(frame) else ():
        clean, *others = _rows(rows, "n_errors", shown)
        sections.append(Section(str(measure), [(*clean[:3], *[None] * 6), *others]))
        notes.append(f"{measure}: {_verdict(rows)}")
    pairs = _count(len(scores.data.complete(scores.data.numbers[-1])), "pair")
    title = f"Rise with the number of errors, layer {layer}, {pairs} that can take all of them"
    return _table("rise", title, Column("errors"), shown, sections, notes)


def position_tables(frame: pd.DataFrame, layer: int) -> Iterator[Table]:
    """Which of the alarms fall on errors and their neighbours; which of the errors have alarms
    there.
    """
    frame = frame.assign(share=frame["checkable"] / frame["errors"].where(frame["errors"] > 0))
    lift = "By chance: if the alarms of each summary fell on its checked units at random."
    for name, shown, note in (
        (
            "precision",
            [
                ("precision", "precision", True),
                ("by chance", "precision_by_chance", False),
                ("lift", "precision_lift", True),
            ],
            f"Precision: share of the alarms within so many units of an error. {lift}",
        ),
        (
            "recall",
            [
                ("checkable errors", "share", False),
                ("recall of them", "recall", True),
                ("by chance", "recall_by_chance", False),
                ("lift", "recall_lift", True),
                ("recall of all", "recall_of_all", False),
                ("before", "before", False),
                ("gain", "gain", True),
            ],
            "Recall: share of the errors with an alarm within so many units. Checkable errors: the share with a unit "
            f"there that occurs in the source, since no other raises alarms. {lift} Before: the same positions in the "
            "clean summary. Gain: recall of all less before.",
        ),
    ):
        sections = []
        for number, rows in frame.groupby("n_errors"):
            counts = f"{_count(rows['errors'].iloc[0], 'error')}, {_count(rows['alarms'].iloc[0], 'alarm')}"
            sections.append(
                Section(
                    f"{_count(number, 'error')} in a summary: {counts}", _rows(rows, "reach", shown)
                )
            )
        title = f"Do the alarms of layer {layer} fall near the errors? {name.capitalize()}"
        yield _table(
            name,
            title,
            Column("units to each side"),
            shown,
            sections,
            (note, _about_intervals(frame)),
        )


def _table(
    name: str,
    title: str,
    first: Column,
    shown: Sequence[Shown],
    sections: Sequence[Section],
    notes: Iterable[str],
) -> Table:
    columns = [first]
    for heading, _, with_interval in shown:
        columns.append(Column(heading, decimals=4 if heading == "p" else 3))
        if with_interval:
            columns.append(Column("95%", text=True))
    return Table(f"subtle-errors-{name}", title, columns, sections, tuple(notes))


def _rows(frame: pd.DataFrame, first: str, shown: Sequence[Shown]) -> list[tuple[Cell, ...]]:
    """The rows of a tidy table as they are shown."""

    def cells(row: Any) -> Iterator[Cell]:
        yield getattr(row, first)
        for _, name, with_interval in shown:
            yield getattr(row, name)
            if with_interval:
                ends = getattr(row, f"{name}_low"), getattr(row, f"{name}_high")
                yield interval(*ends, decimals=3) if row.pairs >= LEAST_PAIRS else EMPTY

    return [tuple(cells(row)) for row in frame.itertuples()]


def _verdict(rows: pd.DataFrame) -> str:
    if rows["pairs"].iloc[0] < LEAST_PAIRS:
        return "too few pairs to say whether it rises."
    if (rows["step_low"].iloc[1:] > 0).all():
        return "rises with every step, the whole 95% interval of each above 0."
    return "does not rise with every step beyond doubt: the 95% interval of at least one step reaches 0."


def _about_intervals(frame: pd.DataFrame) -> str:
    text = "95%: percentiles of a bootstrap over pairs, widened to the estimate where it lies outside of them."
    few = len(frame) and frame["pairs"].min() < LEAST_PAIRS
    return f"{text} Fewer than {LEAST_PAIRS} pairs have no interval." if few else text


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _rise(levels: pd.DataFrame, layer: int) -> Figure:
    """Mean alarms by number of errors, with the 95% intervals of the mean and of its difference to
    clean.
    """
    figure, (left, right) = _figure(1, 3.8)
    for axes, name, color, label in (
        (left, "mean", "C0", "alarms in a summary, mean"),
        (right, "rise", "C1", "more than without errors, mean"),
    ):
        _line(axes, levels, "n_errors", name, "", color, "-", 0.0)
        axes.set_ylabel(label)
        axes.set_xlabel("errors in a summary")
        axes.set_xticks(levels["n_errors"])
    right.axhline(0, color="0.6", linewidth=0.8)
    left.set_ylim(bottom=0)
    pairs = levels["pairs"].iloc[0]
    figure.suptitle(f"ESTIME-{layer} by number of subtle errors, {pairs} pairs, 95% intervals")
    return figure


def _positions(positions: pd.DataFrame, layer: int) -> Figure:
    """Precision and recall of alarms for neighbourhoods of errors, beside chance, one row for each
    number of errors.
    """
    numbers = positions.groupby("n_errors")
    figure, grid = _figure(len(numbers), 1.2 + 2.7 * len(numbers))
    for both, (number, found) in zip(grid.reshape(-1, 2), numbers, strict=True):
        for axes, lines, whole in zip(both, (PRECISION, RECALL), ("alarms", "errors"), strict=True):
            for line in lines:
                _line(axes, found, "reach", *line)
            axes.set_ylabel(f"share of the {whole}")
            axes.set_title(
                f"{number} error{'s' if number > 1 else ''} in a summary", fontsize="medium"
            )
            axes.set_xlabel("units to each side of an error that count as near")
            axes.set_xticks(found["reach"])
            axes.set_ylim(0, 1.03)
            axes.legend(fontsize="small", loc="best")
    figure.suptitle(
        f"Do the alarms of ESTIME-{layer} fall near the errors? 95% intervals over pairs"
    )
    return figure


def _line(
    axes: Any,
    frame: pd.DataFrame,
    position: str,
    name: str,
    label: str,
    color: str,
    style: str,
    aside: float,
) -> None:
    """Values with their intervals, moved aside a little so that those of several lines can be told
    apart.
    """
    values = frame[name]
    ends = [
        (values - frame[f"{name}_low"]).clip(lower=0),
        (frame[f"{name}_high"] - values).clip(lower=0),
    ]
    axes.errorbar(
        frame[position] + aside,
        values,
        yerr=ends,
        color=color,
        label=label or None,
        linestyle=style,
        marker="o",
        markersize=4,
        capsize=3,
        linewidth=1.3,
    )


def _figure(rows: int, height: float) -> tuple[Figure, Any]:
    from estime_metric.comparison.plots.style import new_figure

    figure = new_figure(9.0, height)
    return figure, figure.subplots(rows, 2)
