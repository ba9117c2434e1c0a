"""What the toolbox refuses: the message names the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from estime_metric.studies import meta as m
from tests.studies.meta.conftest import grid_of, made_up

A, NAN, ONE = np.ones((2, 2)), float("nan"), [[1, 2]]
FIRST, LEVEL = made_up(), {"level": "system", "method": "pearson"}
SHIFTED = replace(FIRST, judgements=FIRST.judgements + 1)
RENAMED = replace(FIRST, documents=FIRST.documents[::-1], measure="other")
correlate = partial(m.correlate, **LEVEL)

CASES: list[tuple[Callable[[], object], str]] = [
    (lambda: correlate([["a", "b"]], ONE), "`scores` to contain numbers"),
    (lambda: correlate(ONE, ONE, method="kendall"), "`method` to be one of spearman, pe"),
    (lambda: correlate(ONE, [[1], [2]]), r"the same shape, but got \(1, 2\) and \(2, 1\)"),
    (lambda: correlate([[1, NAN]], ONE), r"`scores` to be finite, but got nan at index \(0, 1\)"),
    (lambda: grid_of([[1, NAN]], ONE), r"`scores` to be finite, but got nan at index \(0, 1\)"),
    (lambda: m.Grid(("a",), ("b",), ONE, [[1]], "m", "j"), r"`scores` to be of shape \(1, 1\)"),
    (lambda: m.bias_matrix(A, A, ["a"]), "`systems` to contain 2 names, but got 1"),
    (lambda: m.break_ties([[0.0, 1e-5]]), "further apart than the noise, 0.0001, but got 1e-05"),
    (lambda: m.williams(0.5, 0.4, 0.1, 3), "at least 4 systems or summaries .* but got 3"),
    (lambda: m.williams(0.9, -0.9, 0.9, 9), "three correlations computed on the same table"),
    (lambda: m.williams(1.0, -1.0, -1.0, 10), "not exact opposites"),
    (lambda: m.williams_test(FIRST, FIRST, level="pairwise"), "`level` to be one of system, summ"),
    (lambda: m.compare_all([], test="williams"), "`levels` to be one of system, summary"),
    (lambda: m.bootstrap(FIRST, resample="rows"), "`resample` to be one of documents, systems"),
    (lambda: m.bootstrap(FIRST, levels=["document"]), "`levels` to be one of summary"),
    (lambda: m.bootstrap(grid_of(A[:0], A[:0])), r"system to resample, but got \(0, 2\)"),
    *(
        (partial(m.bootstrap_difference, FIRST, other, **LEVEL), f"but 'm' and '{name}' do not")
        for other, name in ((SHIFTED, "m"), (RENAMED, "other"))
    ),
]


@pytest.mark.parametrize(("call", "message"), CASES)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()
