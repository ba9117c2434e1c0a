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

WRONG_TYPE: list[tuple[Callable[[], object], str]] = [
    (lambda: correlate([["a", "b"]], ONE), "`scores` to contain numbers"),
    (lambda: m.bias_matrix(A, A, "ab"), "sequence of names"),
    (lambda: m.shuffle_texts("A. B."), "`texts` to be a list of strings, but got a single str"),
]

WRONG_VALUE: list[tuple[Callable[[], object], str]] = [
    (lambda: correlate(ONE, ONE, method="kendall"), "`method` to be one of spearman, pe"),
    (lambda: correlate(ONE, [[1], [2]]), r"the same shape, but got \(1, 2\) and \(2, 1\)"),
    (lambda: correlate([[1, NAN]], ONE), r"`scores` to be finite, but got nan at index \(0, 1\)"),
    (lambda: correlate([1, 2], [1, 2]), r"`scores` to have 2 dimensions, but got shape \(2,\)"),
    (lambda: m.bias_matrix(A, A, ["a"]), "`systems` to contain 2 names, but got 1"),
    (lambda: m.bias_matrix(A, A, ["a", "b"], "both"), "`compared` to be one of same_doc"),
    (lambda: m.break_ties([[0.0, 1e-5]]), "further apart than the noise, 0.0001, but got 1e-05"),
    (lambda: m.count_lengths([["a"], ["b", "c"]]), "rows of 1 texts, but got 2 in row 1"),
    (
        lambda: m.shuffle_accuracy([1, 2], [1]),
        r"`originals` and `shuffled` .* got \(2,\) and \(1,\)",
    ),
    (
        lambda: m.accuracy_by_length_difference([1], [0], [1, 2]),
        "`originals` and `lengths` to have the same shape",
    ),
    (lambda: m.williams(0.5, 0.4, 0.1, 3), "`n` to be at least 4"),
    (lambda: m.williams(1.5, 0.4, 0.1, 9), "`first` to be a correlation within -1..1, but got 1.5"),
    (lambda: m.williams(0.9, -0.9, 0.9, 9), "three correlations computed on the same table"),
    (lambda: m.williams(1.0, -1.0, -1.0, 10), "not exact opposites"),
    (
        lambda: m.williams_test(FIRST, FIRST, level="pairwise"),
        "`level` to be one of system, summary, but got",
    ),
    (
        lambda: m.compare_all([FIRST], test="sign"),
        "one of bootstrap, williams, but got 'sign'",
    ),
    (
        lambda: m.bootstrap(FIRST, resample="rows"),
        "`resample` to be one of documents, systems, both",
    ),
    (lambda: m.bootstrap(FIRST, n=0), "`n` to be at least 1"),
    (lambda: m.bootstrap(FIRST, levels=["document"]), "`levels` to be one of summary"),
    (
        lambda: m.bootstrap(grid_of(np.ones((0, 3)), np.ones((0, 3)))),
        r"system to resample, but got \(0, 3\)",
    ),
]

WRONG_VALUE += [
    (partial(compare, FIRST, changed, **LEVEL), message)
    for compare in (m.bootstrap_difference, m.williams_test)
    for changed, message in (
        (SHIFTED, "same judgements, but 'j' of 'm' and 'j' of 'm' differ"),
        (RENAMED, "same documents .* order, but 'm' and 'other' do not"),
    )
]


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [(TypeError, *case) for case in WRONG_TYPE] + [(ValueError, *case) for case in WRONG_VALUE],
)
def test_bad_input_is_named(
    error: type[Exception], call: Callable[[], object], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
