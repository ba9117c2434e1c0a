"""The assertion for tests of others."""

from __future__ import annotations

import pytest

from estime_metric.testing import assert_consistent

SOURCE = "Anna bought the red boat in May. Peter sold the old house."


def test_the_message_is_the_explanation_in_text() -> None:
    options = {"model": "embedded-small", "device": "cpu"}
    assert_consistent("Anna bought the red boat.", SOURCE, below=0.1, **options)
    with pytest.raises(AssertionError) as caught:
        assert_consistent("Anna bought the green boat.", SOURCE, below=0.1, **options)
    first, *others = str(caught.value).splitlines()
    assert first.startswith(
        "Expected the inconsistency of the summary to be below 0.1, but it is 0."
    )
    assert "- 'green': new word" in others
    with pytest.raises(AssertionError, match=r"it is 1\.0000"):  # at the limit; blank is the worst
        assert_consistent("", SOURCE, below=1, **options)
    with pytest.raises(ValueError, match="`source` to contain words"):
        assert_consistent("Anna.", "", below=0.1)
    with pytest.raises(ValueError, match="`below` to be from 0 to 1"):  # it would never fail
        assert_consistent("Anna.", SOURCE, below=3)
