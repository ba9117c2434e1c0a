"""Joining tidy tables: what fits, what is refused by name, what is excluded on request."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from estime_metric.studies.meta import Grid, join


def tidy(cells: dict[tuple[object, object], object], column: str) -> pd.DataFrame:
    rows = [
        {"document": document, "system": system, column: value}
        for (document, system), value in cells.items()
    ]
    return pd.DataFrame(rows, columns=["document", "system", column])


SCORED = {("a", "X"): 3, ("a", "Y"): 0, ("b", "X"): 2, ("b", "Y"): 1, ("c", "X"): 5, ("c", "Y"): 4}
JUDGED = {
    ("c", "Y"): 1.0,
    ("c", "X"): 2.0,
    ("a", "Y"): 5.0,
    ("a", "X"): 3.0,
    ("b", "X"): 4.5,
    ("b", "Y"): 4.0,
}


def joined(scored: dict, judged: dict, **options: object) -> Grid:
    return join(tidy(scored, "m"), tidy(judged, "j"), "m", "j", **options)


def test_rows_and_columns_stand_in_the_order_of_the_judgements() -> None:
    grid = joined(SCORED, JUDGED)
    assert (grid.documents, grid.systems) == (("c", "a", "b"), ("Y", "X"))
    np.testing.assert_array_equal(grid.scores, [[4, 5], [0, 3], [1, 2]])
    np.testing.assert_array_equal(grid.judgements, [[1, 2], [5, 3], [4, 4.5]])
    assert (grid.scores.dtype, grid.judgements.dtype) == (np.float64, np.float64)
    assert (grid.measure, grid.judgement, grid.dropped) == ("m", "j", ())
    errors = joined(SCORED, JUDGED, lower_is_better=True).scores
    np.testing.assert_array_equal(errors, -grid.scores)
    assert not np.signbit(errors[errors == 0]).any()


def test_columns_may_be_called_otherwise_and_names_are_compared_as_text() -> None:
    """pandas writes integers as floats if their column had a gap. Names of systems stay as they are."""
    scores = pd.DataFrame(
        {"doc": ["1.0", "1.0", 2, 2], "model": ["1.0", "1.1"] * 2, "m": [1, 2, 3, 4]}
    )
    judgements = tidy({("1", "1.0"): 1, ("1", "1.1"): 2, (2, "1.0"): 3, (2, "1.1"): 5}, "j")
    grid = join(
        scores, judgements, "m", "j", document=("doc", "document"), system=("model", "system")
    )
    assert (grid.documents, grid.systems) == (("1", "2"), ("1.0", "1.1"))


def test_a_system_of_summeval_has_two_names() -> None:
    scored = {("a", "M0"): 3, ("a", "BART"): 0, ("a", "X"): 1}
    judged = {("a", "LEAD-3"): 1.0, ("a", "M22"): 2.0, ("a", "X"): 3.0}
    grid = joined(scored, judged)
    assert (grid.systems, grid.scores.tolist()) == (("LEAD-3", "M22", "X"), [[3, 0, 1]])
    with pytest.raises(ValueError, match=r"once, but \(a, LEAD-3\) occurs twice"):
        joined(scored | {("a", "LEAD-3"): 4}, judged)


def without(cells: dict, *keys: tuple[str, str]) -> dict:
    return {key: value for key, value in cells.items() if key not in keys}


@pytest.mark.parametrize(
    ("scored", "judged", "problem"),
    [
        (without(SCORED, ("b", "Y")), JUDGED, "'m' is missing for (b, Y)"),
        (SCORED, without(JUDGED, ("b", "X")), "'j' is missing for (b, X)"),
        (without(SCORED, ("b", "X"), ("b", "Y")), JUDGED, "document without scores: b"),
        (SCORED | {("b", "Y"): np.nan}, JUDGED, "'m' is missing for (b, Y)"),
    ],
)
def test_missing_cells_are_named_and_dropped_on_request(
    scored: dict, judged: dict, problem: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        joined(scored, judged)
    grid = joined(scored, judged, missing="drop")
    assert grid.dropped == (problem,)
    common = {key: value for key, value in scored.items() if key in judged and value == value}
    pd.testing.assert_frame_equal(
        grid.cells.sort_index().reset_index(),
        pd.DataFrame(
            [(*key, float(common[key]), judged[key]) for key in sorted(common)],
            columns=["document", "system", "scores", "judgements"],
        ),
    )


STRANGERS = {("z", "X"): 1, ("z", "Y"): 2}
TABLE = tidy(SCORED, "m")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: joined({**SCORED, ("b", "Y"): np.inf}, JUDGED),
            r"'m' of the table of scores to be finite, but got infinity at \(b, Y\)",
        ),
        (
            lambda: joined({**SCORED, ("b", "Y"): "high"}, JUDGED),
            r"'m' of the table of scores to contain numbers, but got 'high' at \(b, Y\)",
        ),
        (lambda: joined(dict.fromkeys(SCORED, 2), JUDGED), "'m' to vary, but all 6 values are 2.0"),
        (
            lambda: joined({**SCORED, (None, "Y"): 1}, JUDGED),
            "the table of scores to name document and system in each row, but row 6",
        ),
        (
            lambda: join(pd.concat([TABLE, TABLE.iloc[[3]]]), TABLE, "m", "m"),
            r"once, but \(b, Y\) occurs twice\.",
        ),
        (
            lambda: joined(SCORED, STRANGERS),
            "document without judgements: a, b, c; document without scores: z",
        ),
        (
            lambda: joined(SCORED, STRANGERS, missing="drop"),
            "summaries in common, but none is left",
        ),
        (lambda: joined(SCORED, JUDGED, missing="ignore"), "`missing` to be one of error, drop"),
    ],
)
def test_tables_that_do_not_fit_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()
