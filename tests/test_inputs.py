"""Checks of what users pass in: the argument, the index, what was expected, what came."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from estime_metric.inputs import check_choice, check_pairs, check_text, check_texts


@pytest.mark.parametrize(
    "texts",
    [["a", ""], ("a", ""), {"a": 1, "": 2}.keys(), iter(["a", ""]), np.array(["a", ""]), pd.Series(["a", ""], [5, 6])],
)
def test_iterables_of_strings_become_lists(texts: object) -> None:
    assert check_texts("predictions", texts) == ["a", ""]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("abc", "`sources` to be a list of strings, but got one bare str."),
        (b"abc", "`sources` to be a list of strings, but got one bare bytes."),
        (None, "`sources` to be a list of strings, but got NoneType."),
        (7, "`sources` to be a list of strings, but got int."),
        ({"a": 1}, "`sources` to be a list of strings, but got dict."),
        ({"a", "b"}, "`sources` to be a list of strings, but got set."),
        (frozenset("ab"), "`sources` to be a list of strings, but got frozenset."),
        (np.array("text"), "`sources` to be a list of strings, but got ndarray."),
        (np.array([["a", "b"]]), "`sources` to be a list of strings, but got ndarray."),
        (pd.DataFrame({"source": ["a"]}), "`sources` to be a list of strings, but got DataFrame; pass one of its col"),
        ([None], "`sources` to hold strings only, but got NoneType at index 0."),
        (["a", b"b"], "`sources` to hold strings only, but got bytes at index 1."),
        (["a", "b", ["c"]], "`sources` to hold strings only, but got list at index 2."),
    ],
)
def test_other_things_are_refused(texts: object, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        check_texts("sources", texts)


def test_one_text_one_choice_and_pairs() -> None:
    assert check_text("source", "") == ""
    with pytest.raises(TypeError, match="`source` to be a str, but got NoneType"):
        check_text("source", None)
    with pytest.raises(ValueError, match=r"`source` to hold whole characters, but got the lone .* at index 3"):
        check_text("source", "a \ud800", 3)
    check_choice("layer", 2, (2, 5))
    with pytest.raises(ValueError, match="`layer` to be one of 2, 5, but got '2'"):
        check_choice("layer", "2", (2, 5))
    assert check_pairs(["a"], ("b",)) == (["a"], ["b"])
    assert check_pairs([], []) == ([], [])
    with pytest.raises(ValueError, match="`predictions` and `sources` to be of one length, but got 1 and 2"):
        check_pairs(["a"], ["b", "c"])
    with pytest.raises(TypeError, match="`predictions`"):
        check_pairs("a", "b")
    with pytest.raises(TypeError, match="`sources`"):
        check_pairs(["a"], "b")
