"""What one visitor may ask for."""

from __future__ import annotations

import pytest

from estime_metric.demo.limits import WORK, Clock, Limits, RefusedError


def test_texts_up_to_the_limit_pass_and_longer_ones_are_refused_by_name() -> None:
    limits = Limits(source_characters=10, summary_characters=5)
    limits.check_pair("x" * 10, "y" * 5)
    limits.check_pair("", "")
    with pytest.raises(RefusedError, match="The source has 11 characters; the demo takes up to 10"):
        limits.check_pair("x" * 11, "")
    with pytest.raises(RefusedError, match="The summary has 1,006 characters; the demo takes up to 5") as refused:
        limits.check_pair("", "secret" + "y" * 1000)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("blocks", "width"), [(1, 8), (6, 384), (12, 768), (24, 1024), (48, 1600)])
def test_no_encoder_is_given_more_work_than_the_limit(blocks: int, width: int) -> None:
    most = Limits().most_tokens(blocks, width)
    assert most <= Limits().tokens
    assert most * blocks * width**2 <= WORK
    assert most > 0


def test_the_clock() -> None:
    assert Clock(0).out
    assert not Clock(1000).out
