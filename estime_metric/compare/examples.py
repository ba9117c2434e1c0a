"""Tables of several systems -> the numbers of the examples that all of them have."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from estime_metric.checks import check_choice, did_you_mean, has_words, listed_names
from estime_metric.compare.join import check_column, has_scores, join_scores
from estime_metric.measures import (
    HIGHER_IS_BETTER,
    MEASURES,
    PAPER_MEASURE,
    RECOMMENDED,
    measure_of,
)
from estime_metric.table.arrays import Floats
from estime_metric.table.intervals import DECIMALS, source_id
from estime_metric.table.pairs import pair_problem
from estime_metric.table.table import SIGNATURE, number_of
from estime_metric.wording.source import novelty

#: The measures that are compared unless others are requested.
DEFAULT_MEASURES = (RECOMMENDED, PAPER_MEASURE)

#: Measures whose means are reported in addition to the scores, since they can explain a difference.
PROPERTIES = ("tokens", "coverage", "copied_density")

#: Measures that the texts alone decide: they need neither an encoder nor a signature.
OF_TEXTS = ("copied_density", "blank")


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """The examples that all systems have, with their numbers. The name of a measure of ESTIME means its
    scores; any other column is the user's.

    Attributes:
        values: the compared measures, one row per example; the columns have two levels, the measure
            (``alarms``, or ``alarms_layer12`` of several layers) and the system. NaN if there is no
            value.
        properties: ``blank``, ``tokens``, ``coverage`` and ``copied_density`` in the same format; NaN if
            they are not known.
        summaries: the texts of the systems, one row per example and one column per system; ``None`` or NaN if a
            text is not known.
        units: the `source_id` of each example; if the sources are not known, each has another one.
        sources: how many different sources there are; ``None`` if they are not known.
        matched_by: the column by which the rows were joined.
        signature: the one signature of all scores; empty if no compared measure needs one.
        baseline: name of the system with which each other is compared; ``None``: every two are
            compared.
        unmatched: one sentence per source or example that is not compared.
        skipped: of each system, how many of its rows are not compared.
        higher_is_better: the direction of each compared measure; ``None`` if it has none.
    """

    values: pd.DataFrame
    properties: pd.DataFrame
    summaries: pd.DataFrame
    units: list[str]
    sources: int | None
    matched_by: str
    signature: str
    baseline: str | None
    unmatched: tuple[str, ...]
    skipped: Mapping[str, int]
    higher_is_better: Mapping[str, bool | None]

    @property
    def examples(self) -> int:
        """How many examples there are."""
        return len(self.values)

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


def match_examples(
    systems: Mapping[str, pd.DataFrame],
    *,
    baseline: str | None = None,
    measures: str | Sequence[str] | None = None,
    higher: str | Sequence[str] = (),
    lower: str | Sequence[str] = (),
    id_column: str | None = None,
    source_column: str = "source",
    summary_column: str = "summary",
) -> Examples:
    """Finds the examples that all systems have. Arguments and errors as for `compare_scores`."""
    _check_names(list(systems), baseline)
    requested = DEFAULT_MEASURES if measures is None else listed_names("measures", measures)
    signature = _one_signature(systems) if needs_encoder(requested) else ""
    texts = (source_column, summary_column)
    columns = _columns(requested, systems, texts, is_default=measures is None)
    directions = _directions(columns, higher, lower)
    described = {name: _properties(table, name, texts) for name, table in systems.items()}
    compared = {
        name: pd.DataFrame(
            {
                column: _numbers(table, column, name) if column in table else properties[column]
                for column in columns
            },
            table.index,
        )
        for (name, table), properties in zip(systems.items(), described.values(), strict=True)
    }
    joined = join_scores(systems, id_column=id_column, source_column=source_column)
    examples = len(joined.rows)

    def of_examples(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        rows = {
            name: table.iloc[joined.rows[name]].set_axis(joined.rows.index)
            for name, table in tables.items()
        }
        return pd.concat(rows, axis=1).swaplevel(axis=1)

    return Examples(
        values=of_examples(compared),
        properties=of_examples(described),
        summaries=of_examples(
            {
                name: table.reindex(columns=[summary_column]).astype(object)
                for name, table in systems.items()
            }
        )[summary_column],
        units=joined.sources or [source_id(str(number)) for number in range(examples)],
        sources=None if joined.sources is None else len(set(joined.sources)),
        matched_by=joined.matched_by,
        signature=signature,
        baseline=baseline,
        unmatched=joined.unmatched,
        skipped={
            name: table.attrs.get("skipped", 0) + len(table) - examples
            for name, table in systems.items()
        },
        higher_is_better=directions,
    )


def needs_encoder(measures: Sequence[str]) -> bool:
    """Whether some columns have a measure of ESTIME that the texts alone do not decide."""
    return any(name in MEASURES and name not in OF_TEXTS for name in map(measure_of, measures))


def text_problems(table: pd.DataFrame, texts: tuple[str, str]) -> list[str]:
    """What keeps each row from being scored, as the end of a sentence; empty if nothing does."""
    cells = table.reindex(columns=texts).astype(object)
    rows = cells.where(cells.notna(), None).to_dict("records")
    return [pair_problem(row, *texts) for row in rows]


def _check_names(names: Sequence[str], baseline: str | None) -> None:
    """Raises ValueError unless there are two systems or more, and the baseline is one of them."""
    if len(names) < 2:
        raise ValueError(f"Expected two systems or more, but got {len(names)}.")
    if baseline is not None:
        check_choice("baseline", baseline, names)


def _one_signature(systems: Mapping[str, pd.DataFrame]) -> str:
    """The one signature of all rows; ValueError if a row has none or there are several."""
    cells = pd.concat(
        {name: table.reindex(columns=[SIGNATURE])[SIGNATURE] for name, table in systems.items()}
    ).fillna("")
    for name, line in cells.index[cells == ""]:
        raise ValueError(
            f"Expected each row of {name} to have a signature, but line {line} has none. 'estime score' "
            "writes it to a file .meta.json, which has to be next to the scores. Name columns of other "
            "metrics with `measures`."
        )
    if cells.nunique() > 1:
        different = cells.reset_index(level=0).drop_duplicates().to_numpy().tolist()
        shown = [f"\n  {name}: {signature}" for name, signature in different]
        raise ValueError(
            "Expected all rows to have the same signature, because scores with different settings are "
            f"not comparable, but got{''.join(shown)}"
        )
    return str(cells.iloc[0])


def _columns(
    requested: Sequence[str],
    systems: Mapping[str, pd.DataFrame],
    texts: tuple[str, str],
    *,
    is_default: bool,
) -> list[str]:
    """The columns of the measures: ``alarms``, or ``alarms_layer12`` and so on if several layers were
    read. ValueError if a system lacks one of them; of the default, one is enough.
    """
    known = {name: _columns_of(table, texts) for name, table in systems.items()}
    first = next(iter(known.values()))
    chosen: list[str] = []
    for measure in requested:
        of_layers = [name for name in first if measure in MEASURES and measure_of(name) == measure]
        chosen += of_layers or [measure]
    if is_default:
        chosen = [column for column in chosen if column in first] or chosen
    for system, table in systems.items():
        for column in set(chosen).difference(known[system]):
            _refuse(column, system, table)
    return list(dict.fromkeys(chosen))


def _columns_of(table: pd.DataFrame, texts: tuple[str, str]) -> list[str]:
    """The columns that can be compared. In a table without scores of ESTIME, columns with the names of
    its measures are others.
    """
    is_scored = has_scores(table)
    names = [
        name
        for name in table
        if isinstance(name, str) and (is_scored or measure_of(name) not in MEASURES)
    ]
    if not set(texts) <= set(names):
        return names
    known = {*table, *map(measure_of, names)}
    return names + [name for name in OF_TEXTS if name not in known]


def _refuse(column: str, system: str, table: pd.DataFrame) -> None:
    """Raises ValueError for a column that a system lacks."""
    if column in table:
        raise ValueError(
            f"Expected {column!r} in {system} to be computed by ESTIME, but it is a column of yours with "
            "the name of that measure. Rename it."
        )
    advice = f"Score it again with {measure_of(column)} among its `measures`."
    if measure_of(column) not in MEASURES:
        advice = did_you_mean(column, [*table.columns, *MEASURES]).strip()
    check_column(table, column, system, advice)


def _directions(
    columns: Sequence[str], higher: str | Sequence[str], lower: str | Sequence[str]
) -> dict[str, bool | None]:
    """Of each column, whether higher values are better; ``None`` if nobody says so. ValueError for a
    name that is not one of the columns or has both directions, and for a measure of ESTIME with another
    direction or none.
    """
    known = {column: HIGHER_IS_BETTER.get(measure_of(column)) for column in columns}
    measures = MEASURES.keys() & map(measure_of, columns)  # of several layers, their common name
    named: dict[str, bool] = {}
    for argument, names, direction in (("higher", higher, True), ("lower", lower, False)):
        for name in listed_names(argument, names) if names else ():
            if name not in {*columns, *measures}:
                raise ValueError(
                    f"Expected argument `{argument}` to name compared columns, which are "
                    f"{', '.join(columns)}, but got {name!r}. Add it to `measures`."
                )
            own = HIGHER_IS_BETTER.get(measure_of(name))
            if measure_of(name) in measures and own != direction:
                better = {True: "higher is better", False: "lower is better", None: "neither is"}
                raise ValueError(
                    f"Expected argument `{argument}` to name columns in which {better[direction]}, but in "
                    f"{name} {better[own]}."
                )
            if named.setdefault(name, direction) != direction:
                raise ValueError(
                    f"Expected each column in only one of `higher` and `lower`, but got {name!r} in both."
                )
    return {column: named.get(column, direction) for column, direction in known.items()}


def _properties(table: pd.DataFrame, name: str, texts: tuple[str, str]) -> pd.DataFrame:
    """What describes each row: the scores of ESTIME, of several layers those of the first, since layers
    do not differ in this; otherwise what its texts decide; NaN if neither is known.
    """
    columns = [column for column in table if isinstance(column, str)] if has_scores(table) else []
    scores = {measure_of(column): column for column in reversed(columns)}
    properties = pd.DataFrame(np.nan, table.index, ["blank", *PROPERTIES])
    for measure in properties.columns.intersection(list(scores)):
        properties[measure] = _numbers(table, scores[measure], name)
    if properties["blank"].isna().all():
        tokens = properties["tokens"]
        properties["blank"] = (tokens == 0).where(tokens.notna()).astype(float)
    unknown = [measure for measure in OF_TEXTS if properties[measure].isna().all()]
    if not unknown or not set(texts) <= set(table):
        return properties
    has_texts = np.array([not problem for problem in text_problems(table, texts)], dtype=bool)
    sources, summaries = (table.loc[has_texts, column].tolist() for column in texts)
    computed = {
        "copied_density": novelty(summaries, sources)["copied_density"],
        "blank": [float(not has_words(summary)) for summary in summaries],
    }
    for measure in unknown:
        properties.loc[has_texts, measure] = np.round(computed[measure], DECIMALS)
    return properties


def _numbers(table: pd.DataFrame, column: str, name: str) -> Floats:
    """A column as numbers, NaN for an empty cell; measures of ESTIME rounded as in the files of ``estime
    score``. ValueError, which names the line, for a cell that is not a finite number.
    """
    numbers = []
    for line, cell in table[column].items():
        number = number_of(cell)
        if number is None:
            raise ValueError(
                f"Expected column {column!r} of {name} to contain finite numbers, but line {line} has "
                f"{cell!r}."
            )
        numbers.append(number)
    values = np.array(numbers, dtype=np.float64)
    return np.round(values, DECIMALS) if measure_of(column) in MEASURES else values
