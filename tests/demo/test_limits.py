"""The limits of one request."""

from __future__ import annotations

import pytest

from estime_metric.demo.limits import TOKENS, WORK, Limits, RefusedError


def test_texts_up_to_the_limit_pass_and_longer_ones_are_refused_by_name() -> None:
    limits = Limits(max_source_chars=10, max_summary_chars=5)
    limits.check_pair("x" * 10, "y" * 5)
    limits.check_pair("", "")
    with pytest.raises(RefusedError, match="The source has 11 characters; this page takes up to 10"):
        limits.check_pair("x" * 11, "")
    said = r"The summary has 1,006 characters; this page takes up to 5\. .*`estime demo --max-summary-chars` raises"
    with pytest.raises(RefusedError, match=said) as refused:
        limits.check_pair("", "secret" + "y" * 1000)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("blocks", "width"), [(1, 8), (6, 384), (12, 768), (24, 1024), (48, 1600)])
def test_no_encoder_is_given_more_work_than_the_limit(blocks: int, width: int) -> None:
    most = Limits().tokens_for(blocks, width)
    assert most <= TOKENS
    assert most * blocks * width**2 <= WORK
    assert most > 0
    assert Limits(max_tokens=10**6).tokens_for(blocks, width) == 10**6  # raised by whoever starts the page
