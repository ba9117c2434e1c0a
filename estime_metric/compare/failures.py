"""What scores cannot judge: kinds of failure, each a function of the rows of two systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from estime_metric.compare.examples import Examples
from estime_metric.compare.request import Gate
from estime_metric.wording.words import lower_words

LEAST_ROWS = 3  # of a failure
A_TENTH, A_FIFTH = 0.1, 0.2
LEAST_WORDS = 1 / 3  # of a summary, as a fraction of those of the base's
MOST_REPETITION = 0.3


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of failure. A new system has failed if the kind holds in more than `share` of its rows, and in
    `LEAST_ROWS` of them, beyond those in which it holds of the base.

    Attributes:
        name: what is said of the summaries in which it holds; ``{measure}`` is the one that decides.
        share: of all rows.
        holds: the tables of the base and of the new system (see `rows_of`) -> of each row of the new
            one, whether it has failed, (examples,).
        shows: the column that a message quotes.
        advice: how a user can permit it, a sentence with a space in front.
    """

    name: str
    share: float
    holds: Callable[[pd.DataFrame, pd.DataFrame], pd.Series]
    shows: str = "summary"
    advice: str = ""


def is_broken(rows: pd.DataFrame) -> pd.Series:
    """Which summaries are blank or repeat themselves, so that they are no standard for others."""
    return (rows["blank"] == 1) | (rows["repetition"] > MOST_REPETITION)


def is_short(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    """Which summaries have less than a third of the words of the base's, unless that is broken."""
    return (new["length"] < LEAST_WORDS * base["length"]) & ~is_broken(base)


def _is_blank(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    return new["blank"] == 1


def _repeats_itself(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    return is_broken(new) & ~_is_blank(base, new)


def _is_one_text(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    """Which summaries are the text that is found with the most sources, of the texts that the base does
    not have, or in at most a tenth of its rows.
    """
    written = new[~_is_blank(base, new)].drop_duplicates(["unit", "text"])
    sources = written["text"].value_counts()
    in_base = base["text"].value_counts().reindex(sources.index, fill_value=0)
    sources = sources[(sources >= LEAST_ROWS) & (in_base <= A_TENTH * len(base))]
    return new["text"].isin(sources.index[:1])


def _has_no_value(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    return new["value"].isna()


def _is_beyond(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    best, width = base["merit"].max(), base["merit"].max() - base["merit"].min()
    gain = new["merit"] - best
    return (gain > 0) & (gain >= width / 2)


def _is_constant(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    return new["value"].notna() & (new["value"].nunique() == 1)


def _is_outside(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    return (new["value"] < new["least"]) | (new["value"] > new["greatest"])


_STATED = " State the possible values with `range` if these are right."

#: Every kind, in the order in which they are named.
BLANK = Kind(name="are blank", share=A_TENTH, holds=_is_blank)
REPEATED = Kind(name="repeat themselves", share=A_TENTH, holds=_repeats_itself)
ONE_TEXT = Kind(name="are one text", share=A_TENTH, holds=_is_one_text)
SHORT = Kind(
    name="have less than a third of the words of the other system's",
    share=A_FIFTH,
    holds=is_short,
    advice=" What is left out cannot be wrong. Pass `allow_shorter` if they may be so short.",
)
MISSING = Kind(name="have no value of {measure}", share=A_TENTH, holds=_has_no_value, shows="value")
BEYOND = Kind(
    name="have a value of {measure} that is better than all of the other system's by half of their range or more",
    share=A_TENTH,
    holds=_is_beyond,
    shows="value",
    advice=_STATED,
)
CONSTANT = Kind(
    name="have the same value of {measure}",
    share=A_TENTH,  # it is all or none
    holds=_is_constant,
    shows="value",
    advice=_STATED,
)
OUTSIDE = Kind(
    name="have a value of {measure} outside the stated range",
    share=A_TENTH,
    holds=_is_outside,
    shows="value",
)


def kinds_of(examples: Examples, gate: Gate) -> list[Kind]:
    """The kinds of failure that a gate looks for."""
    is_of_others = examples.definitions[examples.measures[0]] is None
    of_values = [BEYOND, CONSTANT] if gate.range is None else [OUTSIDE]
    return [
        *(BLANK, REPEATED, ONE_TEXT),
        *([] if gate.allow_shorter else [SHORT]),
        MISSING,
        *(of_values if is_of_others else []),
    ]


def rows_of(examples: Examples, gate: Gate) -> list[pd.DataFrame]:
    """The tables of the base and of the new system, one row per example: ``line``, ``unit``, ``blank``,
    ``repetition``; ``length``, in words if the texts of both systems are known, otherwise in tokens;
    ``text``, the words of the summary; ``value`` of the measure that decides, ``merit``, which is higher
    for a better one, and ``least`` and ``greatest``, the stated range. NaN if something is not known.
    """
    measure = examples.measures[0]
    sign = 1 if examples.higher_is_better[measure] else -1
    least, greatest = gate.range or (-math.inf, math.inf)
    texts = examples.summaries[list(examples.compared[0])].dropna()
    words = texts.map(lambda text: " ".join(lower_words(text))).reindex(examples.values.index)
    tables = []
    for name in texts:
        described = examples.described(name)
        length = described["tokens"]
        if len(texts):
            length = words[name].map(lambda text: len(text.split()), na_action="ignore")
        value = examples.values[measure, name]
        tables.append(
            described.assign(
                line=examples.lines[name],
                unit=examples.units,
                summary=examples.summaries[name],
                text=words[name],
                length=length,
                value=value,
                merit=sign * value,
                least=least,
                greatest=greatest,
            )
        )
    return tables


def failures(
    kinds: Iterable[Kind], base: pd.DataFrame, new: pd.DataFrame
) -> Iterator[tuple[Kind, pd.Series, pd.Series]]:
    """The kinds by which the new system has failed, each with the rows of the new system and those of the
    base in which it holds, two times (examples,).
    """
    for kind in kinds:
        of_new, of_base = kind.holds(base, new), kind.holds(new, base)
        beyond = of_new.sum() - of_base.sum()
        if beyond >= LEAST_ROWS and beyond > kind.share * len(new):
            yield kind, of_new, of_base
