"""Tables and pictures of the coherence toolbox: what was computed here beside what Steen & Markert 2022 printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from estime_metric.meta import LEVELS, Grid, bootstrap, bootstrap_groups
from estime_metric.meta.bias import BIAS_PAIRS, bias_matrix, rank_systems
from estime_metric.meta.lengths import correlation_with_length, count_lengths
from estime_metric.studies.coherence_toolbox import data as toolbox
from estime_metric.studies.coherence_toolbox.data import ShuffleScores
from estime_metric.studies.coherence_toolbox.printed import LABELS, TABLE_1, TABLE_3, TABLE_4, TABLE_5, Printed
from estime_metric.tables import Cell, Column, Section, Table, interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The paper's best measures (Figures 2 and 5), of which pictures are drawn.
DRAWN = ("human", "ccl-roberta-large-ours-cnndm", "ccl-roberta-large-ours-wsj", "bartscore", "gruen", "sumqe")

HERE, PAPER = "here", "paper"

_SEVENTEEN = (
    "here: computed from the published scores on the 16 systems whose judgements are at hand; "
    "paper: as printed, on 17 systems. They cannot be equal digit for digit."
)


@dataclass(frozen=True, eq=False)
class Agreement:
    """A measure's statistics of Table 3 with their intervals: statistic -> value, low, high; and where they are from.

    Attributes:
        grid: scores and judgements.
        statistics: the paper's name of a statistic -> its value and interval.
    """

    grid: Grid
    statistics: Mapping[str, Printed]


def agreement(folder: Path, measure: str, resamples: int = 1000, seed: int = 0) -> Agreement:
    """Table 3's row of a measure; 95% intervals, documents and systems resampled.

    Args:
        folder: the folder of data, see `estime_metric.studies.coherence_toolbox.data`.
        measure: stem of a file in ``coherence_scores/``.
        resamples: bootstrap samples; 0 leaves the intervals out (NaN).
        seed: of the bootstrap.
    """
    grid = toolbox.read_grid(folder, measure)
    if not resamples:
        values = toolbox.statistics_of(grid.scores, grid.judgements)
        return Agreement(grid, {name: Printed(value, float("nan"), float("nan")) for name, value in values.items()})
    found = {}
    for level in dict.fromkeys(level for level, _ in toolbox.STATISTICS.values()):
        methods = [method for of, method in toolbox.STATISTICS.values() if of == level]
        for row in bootstrap(grid, levels=[level], methods=methods, n=resamples, seed=seed).itertuples():
            found[level, row.method] = Printed(row.value, row.low, row.high)
    return Agreement(grid, {name: found[key] for name, key in toolbox.STATISTICS.items()})


def table_3(rows: Mapping[str, Agreement]) -> Table:
    """Table 3, values: one row for each measure, here beside the paper."""
    columns = (Column("measure", text=True), *_pairs(toolbox.STATISTICS))
    cells = []
    for measure, row in rows.items():
        printed = TABLE_3[LABELS[measure]]
        values = _flat((row.statistics[name].value, printed[name].value) for name in toolbox.STATISTICS)
        cells.append((LABELS[measure], *values))
    title = "Table 3 of Steen & Markert 2022: agreement of coherence measures with judged coherence, Kendall's τ-b."
    return Table("table3", title, columns, (Section("", tuple(cells)),), (_SEVENTEEN,))


def table_3_intervals(rows: Mapping[str, Agreement]) -> Table:
    """Table 3, intervals: one row for each measure, here beside the paper."""
    columns = (Column("measure", text=True), *(Column(name, group=group, text=True) for group, name in _heads()))
    cells = [
        (
            LABELS[measure],
            *_flat(
                (interval(*row.statistics[name][1:]), interval(*TABLE_3[LABELS[measure]][name][1:]))
                for name in toolbox.STATISTICS
            ),
        )
        for measure, row in rows.items()
    ]
    title = "Table 3 of Steen & Markert 2022: 95 % intervals, documents and systems resampled."
    return Table("table3-intervals", title, columns, (Section("", tuple(cells)),), (_SEVENTEEN,))


def table_4(scores: Mapping[str, ShuffleScores]) -> Table:
    """Table 4: accuracy on the shuffle test, here beside the paper, whether the printed digits are met, and how much is
    left of it between different texts."""
    columns = (Column("measure", text=True), Column(HERE), Column(PAPER), Column("met", text=True), Column("across"))
    cells: list[tuple[Cell, ...]] = []
    for measure, each in scores.items():
        printed = TABLE_4[LABELS[measure]]
        met = "yes" if f"{each.accuracy:.3f}" == f"{printed:.3f}" else "no"
        cells.append((LABELS[measure], each.accuracy, printed, met, each.accuracy_across))
    title = "Table 4 of Steen & Markert 2022: shuffle accuracy on 1,000 reference summaries of CNN/DailyMail."
    notes = (
        "here: computed from the published scores, a tie counts one half; paper: as printed; 0.5 by chance.",
        "across, computed here, not printed: each original against the shuffled form of each other text (section 7.4).",
    )
    return Table("table4", title, columns, (Section("", tuple(cells)),), notes)


def table_1(rows: Mapping[str, Mapping[str, float]]) -> Table:
    """Table 1: confounders and upper bound, here beside the paper."""
    columns = (Column("pseudo-measure", text=True), *_pairs(toolbox.STATISTICS))
    cells = [(name, *_flat(zip(row.values(), TABLE_1[name], strict=True))) for name, row in rows.items()]
    title = "Table 1 of Steen & Markert 2022: what knowing the system alone gets; (r): ties broken at random."
    note = "Capitalisation: here whether the system writes capitals, in the paper their number in each summary."
    return Table("table1", title, columns, (Section("", tuple(cells)),), (_SEVENTEEN, note))


def table_5(values: Mapping[tuple[str, str], float]) -> Table:
    """Table 5: components of GRUEN, here beside the paper."""
    columns = (Column("component", text=True), Column("with", text=True), *_pairs(["τ_sys"]))
    cells = [
        (one, "alone" if one == other else other, value, TABLE_5[one, other]) for (one, other), value in values.items()
    ]
    title = "Table 5 of Steen & Markert 2022: system-level agreement of GRUEN's components and of their sums."
    return Table("table5", title, columns, (Section("", tuple(cells)),), (_SEVENTEEN,))


def table_lengths(folder: Path, rows: Mapping[str, Agreement]) -> Table:
    """How far each measure, and the judgements, go with the number of characters; nothing like it was printed."""
    first = next(iter(rows.values())).grid
    lengths = count_lengths(_texts(folder, first))
    tables = {"judged coherence": first.judgements, **{LABELS[name]: row.grid.scores for name, row in rows.items()}}
    columns = (Column("measure", text=True), *(Column(level, decimals=2) for level in LEVELS))
    cells: list[tuple[Cell, ...]] = [
        (name, *correlation_with_length(table, lengths).values()) for name, table in tables.items()
    ]
    title = "Agreement with the number of characters of a summary, Kendall's τ-b, 16 systems."
    return Table("lengths", title, columns, (Section("", tuple(cells)),))


def pictures(folder: Path, rows: Mapping[str, Agreement], resamples: int = 1000, seed: int = 0) -> dict[str, Figure]:
    """Bias matrices of both kinds, agreement within systems, score against judgement and lengths: name -> figure.

    Args:
        folder: the folder of data.
        rows: what `agreement` gave; those in `DRAWN` are drawn.
        resamples: bootstrap samples of the intervals within systems; 0 leaves the intervals out.
        seed: of the bootstrap.
    """
    from estime_metric.meta import plots

    names = {system: each.name for system, each in toolbox.read_systems(folder).items()}
    drawn = {measure: rows[measure].grid for measure in DRAWN if measure in rows}
    figures = {}
    for measure, grid in drawn.items():
        label = LABELS[measure]
        systems = [names[system] for system in grid.systems]
        for compared in BIAS_PAIRS:
            bias = bias_matrix(grid.scores, grid.judgements, systems, compared)
            figures[f"bias-{measure}-{compared.replace('_', '-')}"] = plots.plot_bias(bias, label)
        figures[f"scores-{measure}"] = plots.plot_scores(grid.scores, grid.judgements, systems, label, "coherence")
    if drawn:
        figures["intra-system"] = _intra_system(drawn, names, resamples, seed)
        figures["lengths"] = _lengths(folder, next(iter(drawn.values())), names)
    return figures


def _intra_system(drawn: Mapping[str, Grid], names: Mapping[str, str], resamples: int, seed: int) -> Figure:
    from estime_metric.meta import plots
    from estime_metric.meta.correlations import group_values

    first = next(iter(drawn.values()))
    order = rank_systems(first.judgements)
    values, intervals = {}, {}
    for measure, grid in drawn.items():
        label = LABELS[measure]
        if resamples:
            groups = bootstrap_groups(grid, level="intra_system", method="kendall_b", n=resamples, seed=seed)
            values[label] = groups["value"].to_numpy()[order]
            intervals[label] = groups[["low", "high"]].to_numpy()[order]
        else:
            values[label] = group_values(grid.scores, grid.judgements, level="intra_system", method="kendall_b")[order]
    return plots.plot_intra_system(
        values,
        [names[first.systems[index]] for index in order],
        intervals,
        title="Agreement with judged coherence within each system, best system first",
    )


def _lengths(folder: Path, grid: Grid, names: Mapping[str, str]) -> Figure:
    from estime_metric.meta import plots

    return plots.plot_lengths(count_lengths(_texts(folder, grid)), [names[system] for system in grid.systems])


def _texts(folder: Path, grid: Grid) -> list[list[str]]:
    texts = toolbox.read_summaries(folder)
    return [[texts[document, system] for system in grid.systems] for document in grid.documents]


def _heads() -> list[tuple[str, str]]:
    return [(name, which) for name in toolbox.STATISTICS for which in (HERE, PAPER)]


def _pairs(names: Iterable[str]) -> list[Column]:
    return [Column(which, group=name, decimals=2) for name in names for which in (HERE, PAPER)]


def _flat(pairs: Iterable[tuple[Cell, Cell]]) -> list[Cell]:
    return [cell for pair in pairs for cell in pair]
