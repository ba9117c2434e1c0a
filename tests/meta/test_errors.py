"""What the toolbox refuses: the message names the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from estime_metric.meta import (
    SWAPS,
    approximate_randomization,
    bootstrap,
    bootstrap_difference,
    bootstrap_groups,
    break_ties,
    compare_all,
    correlate,
    correlation_with_length,
    count_lengths,
    from_property,
    mean_over_noise,
    paired_bootstrap,
    permutation_test,
    plots,
    shuffle_accuracy,
    shuffle_texts,
    williams,
    williams_test,
)
from estime_metric.meta.bias import bias_matrix
from estime_metric.meta.detection import calibrate
from estime_metric.meta.lengths import agreement_by_length_difference
from estime_metric.meta.shuffle import accuracy_by_length_difference
from tests.meta.conftest import grid_of, made_up

A, NAN = np.ones((2, 2)), float("nan")
FIRST, LEVEL = made_up(), {"level": "system", "method": "pearson"}
SHIFTED = replace(FIRST, judgements=FIRST.judgements + 1)
RENAMED = replace(FIRST, documents=FIRST.documents[::-1], measure="other")

WRONG_TYPE: list[tuple[Callable[[], object], str]] = [
    (lambda: correlate([["a", "b"]], [[1, 2]], **LEVEL), "`scores` to hold numbers"),
    (lambda: bias_matrix(A, A, "ab"), "sequence of names"),
    (lambda: paired_bootstrap([1, 2], ["x", "y"]), "`second` to hold numbers"),
    (lambda: approximate_randomization([1, 2], ["x", "y"]), "`second` to hold numbers"),
    (lambda: shuffle_texts("A. B."), "`texts` to be a list of strings, but got one bare str"),
    (lambda: shuffle_texts(["A. B.", None]), "`texts` to hold strings only, but got NoneType at index 1"),
    (lambda: williams(0.9, 0.8, 0.9, 9.0), "`n` to be an int"),
    (lambda: bootstrap(FIRST, n=1.5), "`n` to be an integer, but got 1.5"),
]

WRONG_VALUE: list[tuple[Callable[[], object], str]] = [
    (
        lambda: correlate([[1, 2]], [[1, 2]], level="document", method="pearson"),
        "`level` to be one of summary, system",
    ),
    (
        lambda: correlate([[1, 2]], [[1, 2]], level="system", method="kendall"),
        "`method` to be one of spearman, pe",
    ),
    (lambda: correlate([[1, 2]], [[1], [2]], **LEVEL), r"one shape, but got \(1, 2\) and \(2, 1\)"),
    (lambda: correlate([[1, NAN]], [[1, 2]], **LEVEL), r"`scores` to be finite, but got nan at index \(0, 1\)"),
    (lambda: correlate([[1, 2]], [[1, np.inf]], **LEVEL), r"`judgements` to be finite, but got inf at index \(0, 1\)"),
    (lambda: correlate([1, 2], [1, 2], **LEVEL), r"`scores` to have 2 dimensions, but got shape \(2,\)"),
    (lambda: bias_matrix(np.ones((3, 2)), np.ones((2, 3)), ["a", "b"]), r"shape, but got \(3, 2\) and"),
    (lambda: bias_matrix(A, A, ["a"]), "`systems` to hold 2 names, but got 1"),
    (lambda: bias_matrix(A, A, ["a", "a"]), "'a' twice"),
    (lambda: bias_matrix(A, A, ["a", "b"], "both"), "`compared` to be one of same_doc"),
    (lambda: calibrate([1, 2], [1]), "`labels` to be of one shape"),
    (lambda: calibrate([1, 2], [1, 1]), "both 0 and 1, but got no 0"),
    (lambda: calibrate([1, 2, 3], [1, 0, 2]), "to hold 0 and 1, but got 2"),
    (lambda: calibrate([1, 1], [1, 0]), "`scores` to hold different numbers"),
    (lambda: calibrate([1, NAN], [1, 0]), "`scores` to be finite, but got nan at index"),
    (lambda: break_ties([[0.0, 1e-5]]), "`scale` to be below the least step between two scores, 1e-05, but"),
    (lambda: break_ties([[0.0, 1.0]], scale=0.0), "`scale` to be positive, but got 0"),
    (lambda: mean_over_noise(lambda scores: 0.0, [[0.0]], runs=0), "`runs` to be at least 1, but got 0"),
    (lambda: from_property([1.0], documents=-1), "`documents` to be at least 0, but got -1"),
    (lambda: count_lengths([["a"]], "tokens"), "`unit` to be one of characters, words, sentences, but got 'tokens'"),
    (lambda: count_lengths([["a"], ["b", "c"]]), "rows of 1 texts, but got 2 in row 1"),
    (
        lambda: correlation_with_length([[1, 2]], [[1], [2]]),
        r"`lengths` .* shape, but got \(1, 2\) and \(2, 1\)",
    ),
    (lambda: correlation_with_length([[1]], [[1]], "tau"), "`method` to be one of .* but got 'tau'"),
    (lambda: agreement_by_length_difference([[1]], [[1]], [[1]], pairs=0), "`pairs` to be at least 1, but got 0"),
    (
        lambda: shuffle_accuracy([1, 2], [1]),
        r"`originals` and `shuffled` .* got \(2,\) and \(1,\)",
    ),
    (lambda: shuffle_accuracy([1, NAN], [1, 2]), r"`originals` to be finite, but got nan at index \(1,\)"),
    (lambda: accuracy_by_length_difference([1], [0], [1, 2]), "`originals` and `lengths` to be of one shape"),
    (lambda: accuracy_by_length_difference([1, 2], [0, 1], [1, 2], width=0), "`width` to be positive, but got 0"),
    (lambda: accuracy_by_length_difference([1, 2], [0, 1], [1, 2], pairs=0), "`pairs` to be at least 1, but got 0"),
    (lambda: williams(0.5, 0.4, 0.1, 3), "`n` to be at least 4"),
    (lambda: williams(1.5, 0.4, 0.1, 9), "`first` to be a correlation within -1..1, but got 1.5"),
    (lambda: williams(0.9, -0.9, 0.9, 9), "three correlations of one table"),
    (lambda: williams(1.0, -1.0, -1.0, 10), "not each other's opposite"),
    (lambda: williams_test(FIRST, FIRST, level="pairwise"), "`level` to be one of system, summary, but got"),
    (
        lambda: williams_test(FIRST, FIRST, method="kendall_b"),
        "`method` to be one of pearson, spearman, but got",
    ),
    (lambda: permutation_test(FIRST, FIRST, **LEVEL, swap="cells"), f"`swap` to be one of {', '.join(SWAPS)}"),
    (
        lambda: permutation_test(FIRST, FIRST, **LEVEL, alternative="better"),
        "`alternative` to be one of two-sided, gr",
    ),
    (lambda: compare_all([FIRST], test="sign"), "`test` to be one of permutation, bootstrap, williams, but got 'sign'"),
    (lambda: bootstrap(FIRST, resample="rows"), "`resample` to be one of documents, systems, both"),
    (lambda: bootstrap(FIRST, n=0), "`n` to be at least 1"),
    (lambda: bootstrap(FIRST, confidence=95), "`confidence` to lie between 0 and 1"),
    (lambda: bootstrap(FIRST, levels=["document"]), "`levels` to be one of summary"),
    (lambda: bootstrap(FIRST, methods=["tau"]), "`methods` to be one of spearman"),
    (
        lambda: bootstrap(grid_of(np.ones((0, 3)), np.ones((0, 3)))),
        r"system to resample, but got \(0, 3\)",
    ),
    (lambda: bootstrap_groups(FIRST, **LEVEL), "`level` to be one of intra_system, pairwise, but got 'system'"),
    (lambda: plots.plot_bias(bias_matrix(np.empty((2, 0)), np.empty((2, 0)), []), "m"), "at least one system"),
    (lambda: plots.plot_intra_system({}, ["A"]), "at least one measure"),
    (lambda: plots.plot_intra_system({"m": [1.0]}, ["A", "B"]), r"2 values of 'm', but got shape \(1,\)"),
    (lambda: plots.plot_intra_system({"m": [1.0]}, ["A"], {"m": [1.0]}), r"1 pairs of 'm', but got shape \(1,\)"),
    (lambda: plots.plot_layers({}, [1], "τ"), "at least one curve"),
    (lambda: plots.plot_layers({"a": [1.0]}, [1, 2], "τ"), "2 values of 'a', one for each layer"),
    (lambda: plots.plot_scores(np.empty((0, 2)), np.empty((0, 2)), ["A", "B"], "m", "j"), "at least one summary"),
    (lambda: plots.plot_length_curves({}), "at least one curve"),
    (lambda: plots.plot_lengths(np.empty((0, 1)), ["A"]), "at least one summary"),
]

for _test in (paired_bootstrap, approximate_randomization):
    WRONG_VALUE += [
        (lambda test=_test: test([], []), "at least one example"),
        (lambda test=_test: test([1, 2], [1]), r"of one shape, but got \(2,\) and \(1,\)"),
        (lambda test=_test: test([1, NAN], [1, 2]), r"`first` to be finite, but got nan at index \(1,\)"),
        (lambda test=_test: test([1, 2], [1, 3], n=0), "`n` to be at least 1"),
    ]
for _compare in (permutation_test, bootstrap_difference, williams_test):
    WRONG_VALUE += [
        (
            lambda test=_compare: test(FIRST, SHIFTED, **LEVEL),
            "same judgements, but 'j' of 'm' and 'j' of 'm' differ",
        ),
        (
            lambda test=_compare: test(FIRST, RENAMED, **LEVEL),
            "same documents .* order, but 'm' and 'other' do not",
        ),
        (lambda test=_compare: test(FIRST, FIRST, level="document", method="pearson"), "`level` to be one of"),
    ]


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [(TypeError, *case) for case in WRONG_TYPE] + [(ValueError, *case) for case in WRONG_VALUE],
)
def test_bad_input_is_named(error: type[Exception], call: Callable[[], object], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
