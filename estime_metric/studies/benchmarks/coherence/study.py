"""The coherence toolbox: statistics of its published scores, and its tables and plots beside the
printed ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from estime_metric.comparison.checks import Floats
from estime_metric.comparison.tables import Cell, Column, Section, Table, interval
from estime_metric.studies.benchmarks.coherence.data import Toolbox
from estime_metric.studies.benchmarks.coherence.printed import (
    LABELS,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_5,
)
from estime_metric.studies.benchmarks.shared.scoring import Block, Measure, Scores, published_block
from estime_metric.studies.benchmarks.shared.study import Frames, each, lookup
from estime_metric.studies.meta import LEVELS, bootstrap, bootstrap_groups, correlate
from estime_metric.studies.meta.bias import BIAS_PAIRS, bias_matrix, rank_systems
from estime_metric.studies.meta.confounders import break_ties, from_property, system_upper_bound
from estime_metric.studies.meta.correlations import weighted
from estime_metric.studies.meta.lengths import correlation_with_length, count_lengths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The paper's names of its statistics (section 4) -> level and method of
#: `estime_metric.studies.meta.correlate`.
STATISTICS = {
    "τ_intra": ("intra_system", "kendall_b"),
    "τ_pair": ("pairwise", "kendall_b"),
    "τ_sum": ("summary", "kendall_b"),
    "τ_sys": ("system", "kendall_b"),
    "Acc_pair": ("pairwise", "accuracy"),
}

#: The paper's best measures (Figures 2 and 5), of which plots are drawn.
DRAWN = (
    "human",
    "ccl-roberta-large-ours-cnndm",
    "ccl-roberta-large-ours-wsj",
    "bartscore",
    "gruen",
    "sumqe",
)

HERE, PAPER = "here", "paper"
AGREEMENT, SHUFFLE, CONFOUNDERS, COMPONENTS = (
    "agreement.csv",
    "shuffle.csv",
    "confounders.csv",
    "components.csv",
)
WITH_LENGTH = "agreement-with-length.csv"

_ROW = ["statistic", "value", "low", "high"]
_SEVENTEEN = (
    "here: computed from the published scores on the 16 systems whose judgements are available; "
    "paper: as printed, on 17 systems. They cannot be equal digit for digit."
)


def blocks(data: Toolbox) -> list[Block]:
    """The published scores."""
    scores = {name: (LABELS[name], values) for name, values in data.scores.items()}
    return [published_block("Published scores", "Published", f"TOOLBOX|{data.digest}", scores)]


@dataclass(frozen=True)
class ToolboxStudy:
    """The study, as `estime_metric.studies.benchmarks.shared.study.run` takes it.

    ``runs``: over which the confounders with noise are averaged, 0 leaves Table 1 out;
    ``intervals``: resample for the intervals of Table 3.
    """

    runs: int = 100
    intervals: bool = True

    def analyze(self, scores: Scores[Toolbox], *, resamples: int = 1000, seed: int = 0) -> Frames:
        """Tidy tables of what Tables 1, 3, 4 and 5 show, and of agreement with length; intervals at
        95%.
        """
        data, resamples = scores.data, resamples if self.intervals else 0
        lengths = count_lengths(_texts(data))
        tables = {"judged coherence": data.judgements}
        tables |= {
            one.label: data.scores[one.column].reshape(lengths.shape) for one in scores.known
        }
        tested = [
            (LABELS[name], one.accuracy, one.accuracy_across) for name, one in data.shuffle.items()
        ]
        correlations = [
            {"measure": name, **correlation_with_length(table, lengths)}
            for name, table in tables.items()
        ]
        frames = {
            AGREEMENT: each(scores, lambda one: _agreement(scores, one, resamples, seed), _ROW),
            SHUFFLE: pd.DataFrame(tested, columns=["measure", "accuracy", "across"]),
            WITH_LENGTH: pd.DataFrame(correlations),
        }
        if data.components:
            frames[COMPONENTS] = gruen_components(data)
        if self.runs:
            frames[CONFOUNDERS] = confounder_statistics(data, self.runs, seed)
        return frames

    def tables(self, scores: Scores[Toolbox], frames: Frames) -> list[Table]:
        """``table3``, ``table4``, ``table3-intervals``, ``lengths``; ``table5`` and ``table1``
        where computed.
        """
        columns = (Column("measure", text=True), *(Column(level, decimals=2) for level in LEVELS))
        title = "Agreement with the number of characters of a summary, Kendall's τ-b, 16 systems."
        lengths = _table("lengths", title, columns, frames[WITH_LENGTH].itertuples(index=False))
        values, intervals = table_3(frames[AGREEMENT])
        made = [values, table_4(frames[SHUFFLE]), intervals, lengths]
        optional = {COMPONENTS: table_5, CONFOUNDERS: table_1}
        return made + [table(frames[name]) for name, table in optional.items() if name in frames]

    def draw(
        self, scores: Scores[Toolbox], frames: Frames, *, seed: int = 0
    ) -> Iterator[tuple[str, Figure]]:
        """Bias matrices of both kinds, score against judgement, agreement within systems and
        lengths.
        """
        from estime_metric.studies.meta import plots

        data, names = scores.data, scores.data.names
        drawn = [one for one in scores.known if one.column in DRAWN]
        values, ends = {}, {}
        order = rank_systems(data.judgements)
        for one in drawn:
            grid = scores.grid(one, data.judgements, "coherence")
            for compared in BIAS_PAIRS:
                bias = bias_matrix(grid.scores, grid.judgements, names, compared)
                yield (
                    f"bias-{one.column}-{compared.replace('_', '-')}",
                    plots.plot_bias(bias, one.label),
                )
            scatter = plots.plot_scores(grid.scores, grid.judgements, names, one.label, "coherence")
            yield f"scores-{one.column}", scatter
            groups = bootstrap_groups(grid, level="intra_system", method="kendall_b", seed=seed)
            values[one.label] = groups["value"].to_numpy()[order]
            ends[one.label] = groups[["low", "high"]].to_numpy()[order]
        if drawn:
            title = "Agreement with judged coherence within each system, best system first"
            ordered = [names[index] for index in order]
            yield "intra-system", plots.plot_intra_system(values, ordered, ends, title=title)
            yield "lengths", plots.plot_lengths(count_lengths(_texts(data)), names)


def statistics_of(scores: Floats, judgements: Floats) -> dict[str, float]:
    """The five statistics of Table 3, by the paper's names; NaN where one is undefined."""
    return {
        name: float(weighted(scores, judgements, level, [method])[method][0])
        for name, (level, method) in STATISTICS.items()
    }


def _agreement(
    scores: Scores[Toolbox], measure: Measure, resamples: int, seed: int
) -> pd.DataFrame:
    """Table 3's row of a measure: ``statistic``, ``value``, ``low``, ``high``; documents and
    systems resampled.
    """
    grid = scores.grid(measure, scores.data.judgements, "coherence")
    ends: dict[tuple[str, str], tuple[float, float]] = {}
    for level in dict.fromkeys(level for level, _ in STATISTICS.values()) if resamples else ():
        methods = [method for of, method in STATISTICS.values() if of == level]
        for row in bootstrap(
            grid, levels=[level], methods=methods, n=resamples, seed=seed
        ).itertuples():
            ends[level, row.method] = row.low, row.high
    values = statistics_of(grid.scores, grid.judgements)
    rows = [
        (name, value, *ends.get(STATISTICS[name], (np.nan, np.nan)))
        for name, value in values.items()
    ]
    return pd.DataFrame(rows, columns=_ROW)


def confounder_statistics(data: Toolbox, runs: int = 100, seed: int = 0) -> pd.DataFrame:
    """Table 1: the statistics of each pseudo-measure; NAME + " (r)" with ties broken at random,
    mean over runs.

    Without noise ``τ_intra`` is NaN. Capitalisation is the property of the system here, since these
    texts have had the first letter of each sentence capitalised; the paper counts capitals.
    """
    capitals, architecture = (
        from_property(
            [int(data.properties[system][name]) for system in data.systems], len(data.documents)
        )
        for name in ("produces_capitals", "pretrained_transformer")
    )
    bound = system_upper_bound(data.judgements)
    rows = {}
    for name, scores in (
        ("capitalisation", capitals),
        ("architecture", architecture),
        ("upper bound", bound),
    ):
        rows[name] = pd.Series(statistics_of(scores, data.judgements))
        noisy = [
            statistics_of(break_ties(scores, seed + run), data.judgements) for run in range(runs)
        ]
        rows[f"{name} (r)"] = pd.DataFrame(noisy).mean(skipna=False)
    return pd.DataFrame(rows).T.rename_axis("confounder").reset_index()


def gruen_components(data: Toolbox) -> pd.DataFrame:
    """Table 5: system-level tau-b with coherence of GRUEN's components (both names equal) and of
    each sum of two.

    They are taken as they enter GRUEN: ``cola / 8``, ``exp(-lm / 2) / 8`` (``lm`` is a loss),
    penalties as they are.
    """
    parts = {
        name: np.exp(-table / 2) / 8 if name == "lm" else table
        for name, table in data.components.items()
    }
    parts["cola"] = parts["cola"] / 8
    rows = []
    for one, other in TABLE_5:
        table = parts[one] if one == other else parts[one] + parts[other]
        rows.append(
            (one, other, correlate(table, data.judgements, level="system", method="kendall_b"))
        )
    return pd.DataFrame(rows, columns=["component", "other", "value"])


def table_3(frame: pd.DataFrame) -> Iterator[Table]:
    """Table 3, values and then intervals: one row for each measure, here beside the paper."""
    here, pairs = lookup(frame, "measure", "statistic"), {}
    for label in dict.fromkeys(frame["measure"]):
        pairs[label] = [
            one for name in STATISTICS for one in (here[label, name], TABLE_3[label][name])
        ]
    values = [(label, *(one.value for one in of_it)) for label, of_it in pairs.items()]
    title = "Table 3 of Steen & Markert 2022: agreement of coherence measures with judged coherence, Kendall's τ-b."
    yield _table("table3", title, _beside("measure"), values, _SEVENTEEN)
    intervals = [
        (label, *(interval(one.low, one.high) for one in of_it)) for label, of_it in pairs.items()
    ]
    title = "Table 3 of Steen & Markert 2022: 95 % intervals, documents and systems resampled."
    columns = [Column(one.name, one.group, text=True) for one in _beside("measure")]
    yield _table("table3-intervals", title, columns, intervals, _SEVENTEEN)


def table_4(frame: pd.DataFrame) -> Table:
    """Table 4: accuracy on the shuffle test, here beside the paper, whether the printed digits are
    met, and how much is left of it between different texts."""
    columns = (
        Column("measure", text=True),
        Column(HERE),
        Column(PAPER),
        Column("met", text=True),
        Column("across"),
    )
    rows = []
    for row in frame.itertuples():
        printed = TABLE_4[row.measure]
        met = "yes" if f"{row.accuracy:.3f}" == f"{printed:.3f}" else "no"
        rows.append((row.measure, row.accuracy, printed, met, row.across))
    title = "Table 4 of Steen & Markert 2022: shuffle accuracy on 1,000 reference summaries of CNN/DailyMail."
    notes = (
        "here: computed from the published scores, a tie counts one half; paper: as printed; 0.5 by chance.",
        "across, computed here, not printed: each original against the shuffled form of each other text (section 7.4).",
    )
    return _table("table4", title, columns, rows, *notes)


def table_1(frame: pd.DataFrame) -> Table:
    """Table 1: confounders and upper bound, here beside the paper."""
    title = "Table 1 of Steen & Markert 2022: what knowing the system alone gets; (r): ties broken at random."
    note = "Capitalisation: here whether the system writes capitals, in the paper their number in each summary."
    rows = (
        (name, *(cell for pair in zip(values, TABLE_1[name], strict=True) for cell in pair))
        for name, *values in frame.itertuples(index=False)
    )
    return _table("table1", title, _beside("pseudo-measure"), rows, _SEVENTEEN, note)


def table_5(frame: pd.DataFrame) -> Table:
    """Table 5: components of GRUEN, here beside the paper."""
    columns = (Column("component", text=True), *_beside("with", ["τ_sys"]))
    title = "Table 5 of Steen & Markert 2022: system-level agreement of GRUEN's components and of their sums."
    rows = (
        (one, "alone" if one == other else other, value, TABLE_5[one, other])
        for one, other, value in frame.itertuples(index=False)
    )
    return _table("table5", title, columns, rows, _SEVENTEEN)


def _table(
    name: str, title: str, columns: Iterable[Column], rows: Iterable[Sequence[Cell]], *notes: str
) -> Table:
    return Table(name, title, list(columns), [Section("", list(map(tuple, rows)))], notes)


def _beside(first: str, names: Iterable[str] = tuple(STATISTICS)) -> list[Column]:
    """A column of text, then ours and the paper's of each statistic."""
    return [
        Column(first, text=True),
        *(Column(which, name, decimals=2) for name in names for which in (HERE, PAPER)),
    ]


def _texts(data: Toolbox) -> list[list[str]]:
    width = len(data.systems)
    return [
        list(data.summaries[first : first + width])
        for first in range(0, len(data.summaries), width)
    ]
