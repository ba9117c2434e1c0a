"""What scores cannot judge: kinds of failure, each a function of the rows of two systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

LEAST_ROWS = 3  # of a failure
A_TENTH, A_FIFTH, A_HALF = 0.1, 0.2, 0.5
LEAST_LENGTH = 1 / 3  # of a summary, as a fraction of the base's
MOST_REPETITION = 0.3

#: The tables of the base and of the new system -> for each row of the new one, whether it has failed,
#: (examples,). The columns are those of `Examples.tables` and of `gate.rows_of`.
Holds = Callable[[pd.DataFrame, pd.DataFrame], pd.Series]


def is_broken(rows: pd.DataFrame) -> pd.Series:
    """Which summaries are blank or repeat themselves, so that others are not measured by them."""
    return (rows["blank"] == 1) | (rows["repetition"] > MOST_REPETITION)


def _is_one_text(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    """Which summaries are the text that has the most sources more than in the base, and have another one in
    the base.
    """
    sources, of_base = (
        rows.drop_duplicates(["unit", "text"])["text"].value_counts() for rows in (new, base)
    )
    more = sources.sub(of_base, fill_value=0)
    commonest = more[more >= LEAST_ROWS].nlargest(1).index
    return new["text"].isin(commonest) & (new["text"] != base["text"])


def _is_short(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    return (new["tokens"] < LEAST_LENGTH * base["tokens"]) & ~is_broken(base)


def _is_beyond(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    best, worst = base["merit"].max(), base["merit"].min()
    return (new["merit"] > best) & (new["merit"] - best >= (best - worst) / 2)


def _is_constant(base: pd.DataFrame, new: pd.DataFrame) -> pd.Series:
    """Which values are the one of all rows, and another one in the base."""
    is_one = new["merit"].nunique() == 1
    return new["merit"].notna() & (new["merit"] != base["merit"]) & is_one


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of failure. A new system has failed if it holds in more than a share of its rows, and in
    `LEAST_ROWS` of them, beyond those in which it holds of the base.

    Attributes:
        holds: which rows of the new system have failed.
        share: of all rows.
        name: what is said of the summaries; ``{measure}`` is the one that decides.
        reads: the column of texts or of scores that it needs; empty if it is about the measure.
        advice: how it can be permitted: sentences.
    """

    holds: Holds
    share: float
    name: str
    reads: str = ""
    advice: str = ""

    def failed_rows(self, base: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame | None:
        """In which rows it holds of the ``new`` system and of the ``base``; ``None`` if the new system has not
        failed.
        """
        rows = pd.DataFrame({"new": self.holds(base, new), "base": self.holds(new, base)})
        beyond = rows["new"].sum() - rows["base"].sum()
        return rows if beyond >= LEAST_ROWS and beyond > self.share * len(rows) else None


_STATE = " Pass `range` with the least and the greatest possible value if these are right."

#: Summaries that are much shorter, which also counts cannot compare, see `unfit.why_not`.
SHORT = Kind(
    holds=_is_short,
    share=A_FIFTH,
    reads="tokens",
    name="have less than a third of the words of the other system's",
    advice=" What is left out cannot be wrong. Pass `allow_shorter` if they may be so short.",
)

#: Every kind, in the order in which messages name them.
KINDS = (
    Kind(
        holds=lambda base, new: new["blank"] == 1,
        share=A_TENTH,
        reads="blank",
        name="are blank",
    ),
    Kind(
        holds=lambda base, new: new["repetition"] > MOST_REPETITION,
        share=A_TENTH,
        reads="repetition",
        name="repeat themselves",
    ),
    Kind(holds=_is_one_text, share=A_TENTH, reads="text", name="are one text"),
    SHORT,
    Kind(
        holds=lambda base, new: new["value"].isna(),
        share=A_TENTH,
        name="have no value of {measure}",
    ),
    Kind(
        holds=_is_beyond,
        share=A_TENTH,
        name="have a value of {measure} far better than all of the other system's",
        advice=_STATE,
    ),
    Kind(
        holds=_is_constant,
        share=A_HALF,
        name="have one and the same value of {measure}",
        advice=_STATE,
    ),
    Kind(
        holds=lambda base, new: new["is_outside"],
        share=0.0,  # nothing is right there
        name="have a value of {measure} outside the stated range",
    ),
)
