"""What the statistics refuse: the message names the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from estime_metric.table.significance import approximate_randomization
from estime_metric.table.threshold import calibrate


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: approximate_randomization([1, 2], [3, 4], groups=["x"]),
            "`groups` to have a value for each of 2 examples, but got 1",
        ),
        (lambda: calibrate([1, 2], [1]), "`labels` to have the same shape"),
        (lambda: calibrate([1, 2], [1, 1]), "both 0 and 1, but got no 0"),
        (lambda: calibrate([1, 2, 3], [1, 0, 2]), "to contain 0 and 1, but got 2"),
        (lambda: calibrate([1, 1], [1, 0]), "`scores` to contain different numbers"),
        (lambda: approximate_randomization([], []), "at least one example"),
        (lambda: approximate_randomization([1, 2], [1]), r"same shape, but got \(2,\) and \(1,\)"),
        (lambda: approximate_randomization([1, 2], [1, 3], n=0), "`n` to be at least 1"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_groups_that_are_not_hashable_are_named() -> None:
    with pytest.raises(TypeError, match="`groups` to contain hashable values, but got unhashable"):
        calibrate([1, 2], [0, 1], groups=[["x"], ["y"]])
