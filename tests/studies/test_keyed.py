"""Which columns name a summary."""

from __future__ import annotations

import pandas as pd
import pytest

from estime_metric.studies.columns import DOCUMENT_COLUMNS, SYSTEM_COLUMNS
from estime_metric.studies.keyed import keyed, known_systems, listed, numeric_columns


@pytest.mark.parametrize("system", SYSTEM_COLUMNS)
@pytest.mark.parametrize("document", ["document", "doc", "pair", "domain"])
def test_one_list_of_names_is_accepted(document: str, system: str) -> None:
    assert document in DOCUMENT_COLUMNS
    table = keyed(pd.DataFrame({document: [7.0], system: ["a"], "score": [1]}), "mine")
    assert table.to_dict("records") == [{"score": 1, "document": "7", "system": "a"}]


def test_a_version_of_subtle_errors_is_the_requested_number_of_errors() -> None:
    """A summary with too few words has fewer."""
    errors = {"pair": ["p", "p"], "n_errors": [0, 2], "n_missing": [0, 1]}
    assert keyed(pd.DataFrame(errors), "mine")["system"].tolist() == ["0", "3"]
    bumped = {"pair": ["p"], "version": ["edited"], "n_missing": [1]}
    assert keyed(pd.DataFrame(bumped), "mine")["system"].tolist() == ["edited"]


@pytest.mark.parametrize(("known", "names"), [("LEAD-3", "M0"), ("M0", "LEAD-3"), ("lead-3", "m0")])
def test_a_system_of_summeval_is_found_by_both_names_in_any_case(known: str, names: str) -> None:
    written = pd.Series([names, names.lower(), known.swapcase(), known, "other", "BART"])
    found = known_systems(written, [known, "X"])
    assert found.tolist() == [known, known, known, known, "other", "BART"]


def test_a_list_is_counted_from_the_sixth() -> None:
    assert listed("abcde") == "a, b, c, d, e"
    assert listed("abcdef") == "a, b, c, d, e and 1 more"


def test_a_column_with_a_stray_word_is_numbers_and_a_column_of_texts_is_not() -> None:
    table = pd.DataFrame(
        {"a": [1, "oops"], "b": ["x", "y"], "Unnamed: 0": [0, 1], "system": [1, 2]}
    )
    assert numeric_columns(table) == ("a",)
    assert numeric_columns(table.assign(a_layer3=[1, 2]), ["a"]) == ()
