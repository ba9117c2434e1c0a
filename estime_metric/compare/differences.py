"""Scores or results of several systems -> their comparison, in two data frames."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice, did_you_mean, has_words, listed_names
from estime_metric.compare.join import check_column, join_scores
from estime_metric.config import LOW_COVERAGE
from estime_metric.measures import (
    HIGHER_IS_BETTER,
    MEASURES,
    PAPER_MEASURE,
    RECOMMENDED,
    TEMPERATURE,
    measure_of,
)
from estime_metric.table.arrays import Floats, group_codes
from estime_metric.table.intervals import Interval, intervals, source_id
from estime_metric.table.rows import pair_problem
from estime_metric.table.significance import (
    approximate_randomization,
    group_sums,
    holm,
    is_difference,
)
from estime_metric.table.table import LINE, SIGNATURE, number_of
from estime_metric.wording.source import novelty

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult

#: The measures that are compared unless others are requested.
DEFAULT_MEASURES = (RECOMMENDED, PAPER_MEASURE)

#: Measures whose means are reported in addition to the scores, since they can explain a difference.
PROPERTIES = ("tokens", "coverage", "copied_density")

#: Measures that the texts alone decide: they need neither an encoder nor a signature.
OF_TEXTS = ("copied_density", "blank")

#: If the coverages of two systems differ by more than this, measures that judge only checked tokens
#: cannot compare them. This limit is our choice; no study chose it.
COVERAGE_GAP = 0.25

#: If the summaries of one system are more than this many times as long as those of another, counts
#: cannot compare the two, and the shorter one is never the better one: a single word of the source is
#: consistent with it. This limit is our choice too.
LENGTH_RATIO = 4.0

#: Scores have six decimals. Two scores of one text that was scored in different batches can be
#: rounded to neighbors, which count as equal; 1.5 instead of 1, since these are not exact either.
#: A count adds up the rounding of its tokens, so two counts can differ by this much per token.
LAST_DIGIT = 1.5e-6

#: A graded alarm is steep: at its steepest, it changes by 1 / (4 * TEMPERATURE) times the change of the
#: relative margin, which float32 rounds to within this much.
_MARGIN = 2.0**-21
GRADED_DIGIT = _MARGIN / (4 * TEMPERATURE)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several systems over the examples that all of them have.

    Attributes:
        systems: one row per system, by name, in the given order: ``summaries``, ``blank`` (how many
            summaries have no tokens), the means of ``tokens``, ``coverage`` (0 for a blank summary)
            and ``copied_density``, NaN if they are not known, and of each compared measure its mean
            (``alarms``) with the ends of its 95% bootstrap interval by source (``alarms_low``,
            ``alarms_high``). An example without a value of one system is excluded for all.
        pairs: one row per measure and pair of systems:

            - ``measure`` (``alarms``, or ``alarms_layer12`` of several layers), ``system_a``,
              ``system_b``;
            - ``better``: the system with the significantly better value: the interval of the difference
              excludes 0, and ``p_holm`` is below 0.05. ``None`` if there is none or if the measure
              cannot compare the two;
            - ``why_not``: why the measure cannot compare them, as the end of a sentence; otherwise
              empty;
            - ``mean_a``, ``mean_b``; ``difference``: their difference, with scores that differ only
              by rounding made equal, with the ends ``low`` and ``high`` of its 95% interval;
            - ``p_value`` of approximate randomization, and ``p_holm``, corrected by Holm's method for
              the number of pairs of systems;
            - ``a_better``, ``ties``, ``b_better``: the number of examples in which ``system_a`` has the
              better value, both are equal, and ``system_b`` has the better one;
            - ``examples`` and ``left_out``, those without a value; ``units``, the number of different
              sources, which are drawn and swapped as wholes, or of examples if the sources are not
              known; ``units_differing``, those in which the two systems differ.

        examples, sources: how many examples there are, and how many different sources they have;
            ``None`` if that is not known.
        matched_by: the column by which the rows were joined.
        signature: the one signature of all scores; empty if no compared measure needs one.
        baseline: name of the system with which each other is compared; ``None``: every two are
            compared.
        unmatched: one sentence per source or example that is not compared.
        higher_is_better: the direction of each compared measure.
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame
    examples: int
    sources: int | None
    matched_by: str
    signature: str
    baseline: str | None
    unmatched: tuple[str, ...] = ()
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)

    @property
    def measures(self) -> list[str]:
        """The compared measures, in the requested order."""
        return list(self.higher_is_better)

    def ranking(self, measure: str) -> list[str]:
        """The systems from the best mean of a measure to the worst, then the systems that the measure
        cannot compare. ValueError for a measure that was not compared.
        """
        check_choice("measure", measure, self.measures)
        sign = -1.0 if self.higher_is_better[measure] else 1.0
        is_unfit = [bool(_why_not(measure, None, system)) for _, system in self.systems.iterrows()]
        order = np.lexsort((sign * self.systems[measure], is_unfit))
        return [self.systems.index[place] for place in order]

    def interval(self, measure: str, system: str) -> Interval:
        """The mean of a compared measure of a system, with its interval."""
        row = self.systems.loc[system]
        mean, low, high = (float(row[f"{measure}{end}"]) for end in ("", "_low", "_high"))
        return Interval(mean, low, high, count=int(row["summaries"]))


def compare_scores(
    systems: Mapping[str, pd.DataFrame],
    *,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    higher: str | Sequence[str] = (),
    id_column: str | None = None,
    source_column: str = "source",
    summary_column: str = "summary",
) -> Comparison:
    """Compares two or more systems by their scores, on the examples that all of them have.

    Scores are rounded to six decimals, as in files, and scores that differ only by rounding are equal:
    by no more than `LAST_DIGIT`, or, in a count, this much per token (`GRADED_DIGIT` in graded alarms). Summaries of one source are not independent: the bootstrap draws whole sources,
    and approximate randomization swaps the systems on whole sources.

    Args:
        systems: the scores of each system, as `read_scores` gives them, or any
            other table of numbers; of one table with a column ``system``:
            ``dict(list(table.groupby("system")))``.
        baseline: name of the system with which each other one is compared (default: every two are
            compared).
        measures: one or more columns, as a list or with commas between them: measures of ESTIME or
            any other numbers. ``alarms`` means all layers that were read, ``alarms_layer12`` one of
            them (default: `DEFAULT_MEASURES`).
        higher: the columns in which higher values are better. The direction of ESTIME's measures is
            known; in other columns lower values are better unless they are named.
        id_column, source_column: as for `join_scores`.
        summary_column: the column of the summaries. From the texts, if there are any, the copying of
            systems is computed that have no ``copied_density``.

    Raises:
        ValueError: there are fewer than two systems, the baseline is not one of them, the signatures
            differ or are missing although a measure of ESTIME is compared, the rows cannot be joined, a
            column is missing, or a cell is not a finite number.

    Example:
        >>> ids = range(8)
        >>> a = pd.DataFrame({"id": ids, "alarms": [0, 1, 0, 1, 0, 2, 0, 0], "signature": "ESTIME|..."})
        >>> b = pd.DataFrame({"id": ids, "alarms": [3, 4, 2, 1, 5, 3, 1, 2], "signature": "ESTIME|..."})
        >>> comparison = compare_scores({"old": a, "new": b}, measures="alarms", id_column="id")
        >>> comparison.pairs[["better", "mean_a", "mean_b", "p_value"]]
          better  mean_a  mean_b   p_value
        0    old     0.5   2.625  0.015625
    """
    check_names(list(systems), baseline)
    requested = () if measures is None else listed_names("measures", measures)
    tables = {
        name: _with_copying(table, requested, source_column, summary_column)
        for name, table in systems.items()
    }
    columns = _columns(requested, tables)
    is_higher_better = _directions(columns, higher)
    signature = _one_signature(systems) if needs_encoder(columns) else ""
    numeric = {name: _with_numbers(table, columns, name) for name, table in tables.items()}
    joined = join_scores(numeric, id_column=id_column, source_column=source_column)
    examples = len(joined.rows)
    # Each example is a separate source if the sources are not known.
    units = joined.sources or [source_id(str(number)) for number in range(examples)]
    described = pd.DataFrame.from_dict(
        {name: _properties(joined.rows[name]) for name in systems}, orient="index"
    )
    if baseline is None:
        compared = list(itertools.combinations(systems, 2))
    else:
        compared = [(baseline, name) for name in systems if name != baseline]
    rows = []
    for measure in columns:
        scores = pd.DataFrame({name: joined.rows[name][measure] for name in systems})
        scores = scores.where(scores.notna().all(axis=1))
        means = intervals(units, {name: scores[name].to_numpy() for name in systems})
        described[measure] = [means[name].mean for name in systems]
        described[f"{measure}_low"] = [means[name].low for name in systems]
        described[f"{measure}_high"] = [means[name].high for name in systems]
        tolerance = _tolerance(measure, joined.rows, list(systems))
        rows += _compared(
            measure, scores, compared, described, units, tolerance, is_higher_better[measure]
        )
    pairs = pd.DataFrame(rows)
    pairs["better"] = pd.Series([row["better"] for row in rows], dtype=object)  # None stays None
    return Comparison(
        systems=described,
        pairs=pairs,
        examples=examples,
        sources=None if joined.sources is None else len(set(joined.sources)),
        matched_by=joined.matched_by,
        signature=signature,
        baseline=baseline,
        unmatched=joined.unmatched,
        higher_is_better=is_higher_better,
    )


def compare_results(
    *results: EstimeResult,
    names: Sequence[str] | None = None,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
) -> Comparison:
    """Compares results of `EstimeScorer.score` on the same sources in the same order.

    The numbers are those that `compare_scores` gives for files of these results. If the results do
    not have their sources, each pair counts as a separate source.

    Args:
        results: one of each system.
        names: their names (default: A, B, C, ...).
        baseline, measures: as for `compare_scores`; measures of ESTIME.

    Raises:
        ValueError: as for `compare_scores`; a measure is unknown; a name occurs twice; the results have
            different lengths, or are about different sources.
    """
    labels = list(ascii_uppercase[: len(results)] if names is None else names)
    if len(labels) != len(results):
        raise ValueError(
            f"Expected argument `names` to name {len(results)} systems, but got {len(labels)} names."
        )
    check_names(labels, baseline)
    known = [list(result.sources) for result in results if result.sources is not None]
    if len(set(map(len, results))) > 1 or any(sources != known[0] for sources in known):
        raise ValueError(
            "Expected argument `results` to be about the same sources in the same order, but they are "
            "not."
        )
    requested = () if measures is None else listed_names("measures", measures)
    for name in requested:
        check_choice("measures", measure_of(str(name)), MEASURES)
    tables = {}
    for name, result in zip(labels, results, strict=True):
        reported = dict.fromkeys((*result.measures, *map(measure_of, requested)))
        tables[name] = result.table(tuple(reported))
    return compare_scores(tables, baseline=baseline, measures=measures, id_column=LINE)


def needs_encoder(measures: Sequence[str] | None) -> bool:
    """Whether some columns (default: `DEFAULT_MEASURES`) have a measure of ESTIME that the texts alone do
    not decide.
    """
    names = map(measure_of, DEFAULT_MEASURES if measures is None else measures)
    return any(name in MEASURES and name not in OF_TEXTS for name in names)


def check_measures(
    measures: Sequence[str] | None, higher: Sequence[str], systems: Mapping[str, pd.DataFrame]
) -> None:
    """Raises ValueError for measures and directions that `compare_scores` would refuse; systems that have
    no scores yet will have all measures of ESTIME.
    """
    for name, table in systems.items():
        known = {} if has_scores(table) else MEASURES
        if named := [
            measure for measure in measures or () if measure_of(measure) not in (*known, *OF_TEXTS)
        ]:
            _columns(named, {name: table})
    _directions(DEFAULT_MEASURES if measures is None else measures, higher)


def has_scores(table: pd.DataFrame) -> bool:
    """Whether a table has scores of ESTIME."""
    return SIGNATURE in table and table[SIGNATURE].map(str).str.startswith("ESTIME|").any()


def check_names(names: Sequence[str], baseline: str | None) -> None:
    """Raises ValueError unless there are two systems or more with different names, and the baseline is
    one of them.
    """
    if len(names) < 2:
        raise ValueError(f"Expected two systems or more, but got {len(names)}.")
    if len(repeated := [name for name in names if names.count(name) > 1]):
        raise ValueError(f"Expected each name of a system once, but got {repeated[0]!r} twice.")
    if baseline is not None:
        check_choice("baseline", baseline, names)


def _columns(requested: Sequence[str], systems: Mapping[str, pd.DataFrame]) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms_layer12`` and so on if several layers were
    read. ValueError if a system lacks one of them.
    """
    table = next(iter(systems.values()))
    names = [column for column in table if isinstance(column, str)]
    columns = {
        measure: [name for name in names if measure in (name, measure_of(name))]
        for measure in requested or DEFAULT_MEASURES
    }
    if not requested and any(columns.values()):
        columns = {measure: found for measure, found in columns.items() if found}
    chosen = list(
        dict.fromkeys(name for measure, found in columns.items() for name in found or [measure])
    )
    for system, table in systems.items():
        for column in chosen:
            advice = f'Score it again with measures="{measure_of(column)}" if it has none.'
            if measure_of(column) not in MEASURES:
                advice = did_you_mean(column, [*table.columns, *MEASURES]).strip()
            check_column(table, column, system, advice)
    return chosen


def _directions(columns: Sequence[str], higher: str | Sequence[str]) -> dict[str, bool]:
    """Of each column, whether higher values are better. ValueError for a name in ``higher`` that is none
    of the columns, or one of ESTIME's measures of which lower values are better.
    """
    known = {column: HIGHER_IS_BETTER.get(measure_of(column)) for column in columns}
    named = listed_names("higher", higher) if higher else ()
    for name in named:
        check_choice("higher", name, columns)
        if known[name] is False:
            raise ValueError(
                f"Expected argument `higher` to name columns in which higher values are better, but lower "
                f"{name} is better."
            )
    return {column: bool(known[column]) or column in named for column in columns}


def _one_signature(systems: Mapping[str, pd.DataFrame]) -> str:
    """The one signature of all rows; ValueError if a row has none or there are several."""
    signatures = {}
    for name, table in systems.items():
        cells = table.reindex(columns=[SIGNATURE])[SIGNATURE].fillna("")
        for line in cells.index[cells == ""]:
            raise ValueError(
                f"Expected each row of {name} to have a signature, but line {line} has none."
            )
        signatures[name] = cells.unique().tolist()
    different = set(itertools.chain(*signatures.values()))
    if len(different) > 1:
        shown = [f"\n  {name}: {text}" for name, texts in signatures.items() for text in texts]
        raise ValueError(
            "Expected all rows to have the same signature, because scores with different settings are "
            f"not comparable, but got{''.join(shown)}"
        )
    return next(iter(different), "")


def _with_copying(
    table: pd.DataFrame, requested: Sequence[str], source_column: str, summary_column: str
) -> pd.DataFrame:
    """A table with the measures `OF_TEXTS`, computed from its texts if it has no scores of ESTIME with
    them. Others' columns with such a name are only kept if they are requested.
    """
    if not has_scores(table):
        names = (*PROPERTIES, *OF_TEXTS)
        table = table.drop(
            columns=[name for name in names if name in table and name not in requested]
        )
    missing = [name for name in OF_TEXTS if _property(table, name).isna().all()]
    columns = [source_column, summary_column]
    if not missing or not set(columns) <= set(table.columns):
        return table
    if any(pair_problem(row, *columns) for row in table[columns].to_dict("records")):
        return table
    sources, summaries = (table[column].tolist() for column in columns)
    computed = {
        "copied_density": novelty(summaries, sources)["copied_density"],
        "blank": [float(not has_words(summary)) for summary in summaries],
    }
    return table.assign(**{name: computed[name] for name in missing})


def _with_numbers(table: pd.DataFrame, columns: Sequence[str], name: str) -> pd.DataFrame:
    """A table with numbers in the compared columns and in those that describe a system, rounded as in
    the files of ``estime score``; NaN for an empty cell.
    """
    numbers = {}
    for column in table:
        if column in columns or measure_of(str(column)) in (*PROPERTIES, *OF_TEXTS):
            values = []
            for line, cell in table[column].items():
                number = number_of(cell)
                if number is None:
                    raise ValueError(
                        f"Expected column {column!r} of {name} to contain finite numbers, but line "
                        f"{line} has {cell!r}."
                    )
                values.append(number)
            numbers[column] = np.round(values, 6)
    return table.assign(**numbers)


def _properties(rows: pd.DataFrame) -> dict[str, float]:
    """What a system wrote; of several layers the first, since layers do not differ in this."""
    tokens = _property(rows, "tokens")
    blank = _property(rows, "blank") if tokens.isna().all() else tokens == 0
    return {
        "summaries": len(rows),
        "blank": math.nan if blank.isna().all() else int(blank.sum()),
        **{measure: float(_property(rows, measure).mean()) for measure in PROPERTIES},
    }


def _property(rows: pd.DataFrame, measure: str) -> pd.Series:
    """The values of a measure that describes a system; NaN if they are not known."""
    column = next((column for column in rows if measure_of(str(column)) == measure), None)
    return pd.Series(np.nan, rows.index) if column is None else rows[column]


def _tolerance(measure: str, rows: pd.DataFrame, systems: Sequence[str]) -> Floats:
    """How far two equal scores of each example can differ by rounding, (examples,)."""
    definition = MEASURES.get(measure_of(measure))
    if definition is None or definition.kind != "count":
        return np.full(len(rows), LAST_DIGIT)
    tokens = np.array([_property(rows[name], "tokens") for name in systems], dtype=np.float64)
    most: Floats = np.fmax(tokens, 1.0).max(axis=0)
    return (GRADED_DIGIT if "graded_alarms" in definition.needs else LAST_DIGIT) * most


def _compared(
    measure: str,
    scores: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    systems: pd.DataFrame,
    units: Sequence[str],
    tolerance: Floats,
    is_higher_better: bool,
) -> list[dict[str, Any]]:
    """The rows of `Comparison.pairs` for one measure. ``scores`` have one column per system, and a value
    of each or of none in an example; ``systems`` are the rows of `Comparison.systems`; ``units`` are the
    source of each example, and ``tolerance`` is how far two equal scores of it can differ.
    """
    values = {name: scores[name].to_numpy() for name in scores}
    differences = {
        (first, second): np.where(
            np.abs(values[first] - values[second]) <= tolerance, 0.0, values[first] - values[second]
        )
        for first, second in pairs
    }
    around = intervals(units, differences)
    known = scores.notna().all(axis=1).to_numpy()
    codes = group_codes(np.asarray(units)[known], int(known.sum()))
    rows: list[dict[str, Any]] = []
    for first, second in pairs:
        difference = differences[first, second][known]
        sums = group_sums(difference, codes)
        above, below = int((difference > 0).sum()), int((difference < 0).sum())
        p_value = math.nan
        if len(difference):
            p_value = approximate_randomization(difference, np.zeros_like(difference), groups=codes)
        rows.append(
            {
                "measure": measure,
                "system_a": first,
                "system_b": second,
                "better": None,
                "why_not": "",
                "mean_a": _mean(values[first][known]),
                "mean_b": _mean(values[second][known]),
                "difference": _mean(difference),
                "low": around[first, second].low,
                "high": around[first, second].high,
                "p_value": p_value,
                "p_holm": p_value,
                "a_better": above if is_higher_better else below,
                "ties": len(difference) - above - below,
                "b_better": below if is_higher_better else above,
                "examples": len(difference),
                "left_out": int((~known).sum()),
                "units": len(sums),
                "units_differing": int(np.count_nonzero(sums)),
            }
        )
    if known.any():
        for row, p_holm in zip(rows, holm([row["p_value"] for row in rows]), strict=True):
            row["p_holm"] = float(p_holm)
    for row in rows:
        first, second = row["system_a"], row["system_b"]
        leader = first if (row["difference"] > 0) == is_higher_better else second
        better = leader if is_difference(row["low"], row["high"], row["p_holm"]) else None
        row["why_not"] = _why_not(measure, better, systems.loc[first], systems.loc[second])
        row["better"] = None if row["why_not"] else better
    return rows


def _mean(values: Floats) -> float:
    return math.fsum(values) / len(values) if len(values) else math.nan


def _why_not(measure: str, better: str | None, *systems: pd.Series) -> str:
    """Why a measure cannot compare two systems, as the end of a sentence, or one system with any other;
    empty if it can.

    Args:
        measure: its column. A measure that does not judge, and a column of others, can always be
            compared.
        better: the system with the significantly better value, if any.
        systems: rows of `Comparison.systems`.
    """
    definition = MEASURES.get(measure_of(measure))
    if definition is None or definition.higher_is_better is None:
        return ""
    reasons = []
    for system in systems:
        if definition.kind == "count" and 2 * system["blank"] > system["summaries"]:
            reasons.append(
                f"{system['blank']:.0f} of {system['summaries']:.0f} summaries of {system.name} are blank"
            )
        elif definition.checked_only and system["coverage"] < LOW_COVERAGE:
            reasons.append(f"only {_checked(system)} were checked")
    if reasons or len(systems) == 1:
        return " and ".join(reasons)
    shorter, longer = sorted(systems, key=lambda system: system["tokens"])
    if definition.checked_only and abs(longer["coverage"] - shorter["coverage"]) > COVERAGE_GAP:
        return f"{_checked(systems[0])} and {_checked(systems[1])} were checked"
    is_much_shorter = longer["tokens"] > LENGTH_RATIO * shorter["tokens"]
    if is_much_shorter and (definition.kind == "count" or better == shorter.name):
        return (
            f"{shorter.name} has {shorter['tokens']:.1f} tokens per summary and {longer.name} "
            f"{longer['tokens']:.1f}"
        )
    return ""


def _checked(system: pd.Series) -> str:
    return f"{system['coverage']:.0%} of the tokens of {system.name}"
