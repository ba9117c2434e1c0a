"""Tables of several systems -> the numbers of the examples that all of them have."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice, did_you_mean, has_words, listed_names
from estime_metric.compare.join import check_column, check_filled, join_scores
from estime_metric.compare.request import OF_TEXTS, Request
from estime_metric.measures import HIGHER_IS_BETTER, MEASURES, Measure, measure_of
from estime_metric.table.arrays import Floats
from estime_metric.table.intervals import DECIMALS, source_id
from estime_metric.table.pairs import pair_problem
from estime_metric.table.scores import Scores
from estime_metric.table.table import SIGNATURE
from estime_metric.wording.source import novelty

#: Measures whose means are reported in addition to the scores, since they can explain a difference.
PROPERTIES = ("tokens", "coverage", "copied_density")


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """The examples that all systems have, with their numbers. The name of a measure of ESTIME means its
    scores; any other column is the user's.

    Attributes:
        units: the `source_id` of each example; if the sources are not known, each has another one.
        sources: how many different sources there are; ``None`` if they are not known.
        matched_by: the column by which the rows were joined.
        baseline: name of the system with which each other is compared; ``None``: every two are
            compared.
        unmatched: one sentence per source or example that is not compared.
        skipped: of each system, how many of its rows are not compared.
        higher_is_better: the direction of each compared measure; ``None`` if it has none.
        definitions: what ESTIME knows of each compared measure; ``None`` for a column of the user's.
        values: the compared measures, one row per example; the columns have two levels, the measure
            (``alarms``, or ``alarms_layer12`` of several layers) and the system. NaN if there is no
            value.
        tables: what describes the rows of each system, one row per example: ``line``; ``blank``,
            ``repetition`` and `PROPERTIES`, NaN if they are not known; and the text, ``summary``, or
            ``None``.
        signature: the one signature of all scores; empty if no compared measure needs one.
    """

    units: list[str]
    sources: int | None
    matched_by: str
    baseline: str | None
    unmatched: tuple[str, ...]
    skipped: Mapping[str, int]
    higher_is_better: Mapping[str, bool | None]
    definitions: Mapping[str, Measure | None]
    values: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    signature: str

    @property
    def examples(self) -> int:
        """How many examples there are."""
        return len(self.units)

    @property
    def independent(self) -> int:
        """How many of them are independent: different sources, or all if the sources are not known."""
        return self.examples if self.sources is None else self.sources

    @property
    def measures(self) -> list[str]:
        """The compared measures, in the requested order."""
        return list(self.higher_is_better)

    @property
    def names(self) -> list[str]:
        """The systems, in the given order."""
        return list(self.skipped)

    @property
    def compared(self) -> list[tuple[str, str]]:
        """The pairs of systems: each with the baseline, or every two."""
        if self.baseline is None:
            return list(itertools.combinations(self.names, 2))
        return [(self.baseline, name) for name in self.names if name != self.baseline]

    def described(self, column: str) -> pd.DataFrame:
        """A column of `tables`, one row per example and one column per system."""
        return pd.DataFrame({name: table[column] for name, table in self.tables.items()})


def examples_of(
    systems: Mapping[str, Scores], request: Request, computed: Mapping[str, Sequence[str]]
) -> Examples:
    """The examples that all systems have. Errors as for `compare_scores`.

    Args:
        systems: what is compared.
        request: names the measures.
        computed: the columns that are computed later, of each system that is not scored yet: it has only
            the values of columns of others, and nothing describes its rows.
    """
    if len(systems) < 2:
        raise ValueError(f"Expected two systems or more, but got {len(systems)}.")
    if request.baseline is not None:
        check_choice("baseline", request.baseline, systems)
    frames = {name: scores.frame for name, scores in systems.items()}
    if request.needs_encoder:
        _check_signatures({name: frames[name] for name in frames if name not in computed})
    directions = _directions(_columns(request, systems, computed), request)
    source_column, summary_column = request.layout.text_columns
    joined = join_scores(frames, id_column=request.id_column, source_column=source_column)
    examples = len(joined.rows)
    values: dict[tuple[str, str], Floats] = {}
    tables = {}
    for name, scores in systems.items():
        table = _comparable(scores)
        if name not in computed:
            table = _with_measures_of_texts(table, request.layout.text_columns)
        rows = table.iloc[joined.rows[name]]
        values |= {
            (column, name): _numbers(rows, column, name) for column in directions if column in rows
        }
        if name not in computed:
            tables[name] = _described(rows, name, summary_column).set_axis(joined.rows.index)
    first = next(iter(systems.values()))
    return Examples(
        units=joined.sources or [source_id(str(number)) for number in range(examples)],
        sources=None if joined.sources is None else len(set(joined.sources)),
        matched_by=joined.matched_by,
        baseline=request.baseline,
        unmatched=joined.unmatched,
        skipped={
            name: scores.skipped + len(scores.frame) - examples for name, scores in systems.items()
        },
        higher_is_better=directions,
        definitions={column: MEASURES.get(measure_of(column)) for column in directions},
        values=pd.DataFrame(values, joined.rows.index),
        tables=tables,
        signature=first.signature if request.needs_encoder else "",
    )


def text_problems(table: pd.DataFrame, texts: tuple[str, str]) -> pd.Series:
    """What keeps each row from being scored, as the end of a sentence; empty if nothing does."""
    cells = table.reindex(columns=texts).astype(object)
    rows = cells.where(cells.notna(), None).to_dict("records")
    return pd.Series([pair_problem(row, *texts) for row in rows], table.index, dtype=object)


def _check_signatures(tables: Mapping[str, pd.DataFrame]) -> None:
    """Raises ValueError if a row has no signature or there are several."""
    shown, different = "", set()
    for name, table in tables.items():
        cells = table.reindex(columns=[SIGNATURE])[SIGNATURE].fillna("")
        check_filled(
            cells,
            name,
            "'estime score' writes it to a file .meta.json, which has to be next to the scores. Name columns "
            "of other metrics with `measures`.",
        )
        for signature in cells.unique():
            different.add(signature)
            shown += f"\n  {name}: {signature}"
    if len(different) > 1:
        raise ValueError(
            "Expected all rows to have the same signature, because scores with different settings are "
            f"not comparable, but got{shown}"
        )


def _comparable(scores: Scores) -> pd.DataFrame:
    """The columns that can be compared: in a table without scores of ESTIME, columns with the names of its
    measures are others.
    """
    is_scored = scores.is_scored
    return scores.frame[
        [
            name
            for name in scores.frame
            if isinstance(name, str) and (is_scored or measure_of(name) not in MEASURES)
        ]
    ]


def _with_measures_of_texts(table: pd.DataFrame, texts: tuple[str, str]) -> pd.DataFrame:
    """A table with what only the texts decide, if it is not known."""
    known = set(map(measure_of, table.columns[table.notna().any()]))
    unknown = [measure for measure in OF_TEXTS if measure not in known]
    if not unknown or not set(texts) <= set(table):
        return table
    has_texts = text_problems(table, texts) == ""
    sources, summaries = (table.loc[has_texts, column].tolist() for column in texts)
    computed = novelty(summaries, sources)
    computed["blank"] = [float(not has_words(summary)) for summary in summaries]
    # By position: the index of a user's data frame can have the same label twice.
    added = pd.DataFrame(computed, np.flatnonzero(has_texts)).reindex(range(len(table)))
    return table.assign(**{measure: added[measure].to_numpy() for measure in unknown})


def _columns(
    request: Request, systems: Mapping[str, Scores], computed: Mapping[str, Sequence[str]]
) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms_layer12`` and so on if several layers were
    read. ValueError if a system lacks one of them; of the default, one is enough.
    """
    columns = {
        name: [*_comparable(scores), *computed.get(name, ())] for name, scores in systems.items()
    }
    for known in columns.values():
        if set(request.layout.text_columns) <= set(known):
            known += set(OF_TEXTS).difference(map(measure_of, known))
    first = next(iter(columns.values()))
    chosen: list[str] = []
    for measure in request.columns:
        of_layers = [name for name in first if measure in MEASURES and measure_of(name) == measure]
        chosen += of_layers or [measure]
    if request.measures is None:
        chosen = [column for column in chosen if column in first] or chosen
    for name, known in columns.items():
        for column in chosen:
            if column not in known:
                _refuse(column, name, systems[name].frame)
    return list(dict.fromkeys(chosen))


def _refuse(column: str, system: str, table: pd.DataFrame) -> None:
    """Raises ValueError for a column that a system lacks."""
    if column in table:
        raise ValueError(
            f"Expected {column!r} in {system} to be computed by ESTIME, but it is a column of yours with "
            "the name of that measure. Rename it."
        )
    advice = f"Score it again: estime score --measures {measure_of(column)} ..."
    if measure_of(column) not in MEASURES:
        advice = did_you_mean(column, [*table.columns, *MEASURES]).strip()
    check_column(table, column, system, advice)


def _directions(columns: Sequence[str], request: Request) -> dict[str, bool | None]:
    """Of each column, whether higher values are better; ``None`` if nobody says so. ValueError for a
    name that is not one of the columns or has both directions, and for a measure of ESTIME with another
    direction or none.
    """
    directions = {column: HIGHER_IS_BETTER.get(measure_of(column)) for column in columns}
    measures = MEASURES.keys() & map(measure_of, columns)  # of several layers, their common name
    better = {True: "higher is better", False: "lower is better", None: "neither is"}
    for argument, names, direction in (
        ("higher", request.higher, True),
        ("lower", request.lower, False),
    ):
        for name in listed_names(argument, names or ()):
            if name not in {*columns, *measures}:
                raise ValueError(
                    f"Expected argument `{argument}` to name compared columns, which are "
                    f"{', '.join(columns)}, but got {name!r}. Add it to `measures`."
                )
            if measure_of(name) in measures:
                own = HIGHER_IS_BETTER.get(measure_of(name))
                if own != direction:
                    raise ValueError(
                        f"Expected argument `{argument}` to name columns in which {better[direction]}, "
                        f"but in {name} {better[own]}."
                    )
            elif directions[name] not in (None, direction):
                raise ValueError(
                    f"Expected each column in only one of `higher` and `lower`, but got {name!r} in both."
                )
            else:
                directions[name] = direction
    return directions


def _described(table: pd.DataFrame, name: str, summary_column: str) -> pd.DataFrame:
    """What describes each row, see `Examples.tables`: of several layers the numbers of the first, since layers
    do not differ in this; NaN if they are not known.
    """
    summaries = [cell if isinstance(cell, str) else None for cell in table.get(summary_column, ())]
    columns = {measure_of(column): column for column in reversed(list(table))}
    properties = {
        measure: _numbers(table, columns[measure], name)
        if measure in columns
        else np.full(len(table), np.nan)
        for measure in ("blank", "repetition", *PROPERTIES)
    }
    if np.isnan(properties["blank"]).all():
        tokens = properties["tokens"]
        properties["blank"] = np.where(np.isnan(tokens), np.nan, tokens == 0)
    return pd.DataFrame({"line": table.index.array, "summary": summaries or None, **properties})


def _numbers(table: pd.DataFrame, column: str, name: str) -> Floats:
    """A column as numbers, NaN for an empty cell; measures of ESTIME rounded as in the files of ``estime
    score``. ValueError, which names the line, for a cell that is not a finite number.
    """
    values: Floats = Scores.of(table).numbers(column).to_numpy()
    for line, cell in table[column][np.isinf(values)].items():
        raise ValueError(
            f"Expected column {column!r} of {name} to contain finite numbers, but line {line} has {cell!r}."
        )
    return values.round(DECIMALS) if measure_of(column) in MEASURES else values
