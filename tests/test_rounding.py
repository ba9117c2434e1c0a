"""Another token budget changes what `EstimeResult.ties` counted and nothing else, in each precision."""

from __future__ import annotations

import pytest
import torch

from docs.benchmarks.rounding import changes, hostile_pairs
from estime_metric import EstimeScorer


@pytest.mark.filterwarnings("ignore:dtype='bfloat16' is slower:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_a_budget_changes_was_counted(dtype: str) -> None:
    summaries, sources = zip(*hostile_pairs(16), strict=True)
    results = [
        EstimeScorer(
            model="embedded-small", device="cpu", dtype=dtype, token_budget=budget, layers=(3, 6),
            measures=("soft", "coherence", "alarms_alltokens"),
        ).score(summaries, sources)
        for budget in (100, 8_000)
    ]  # fmt: skip
    found = changes(*results)
    assert {name: beyond for name, (_, _, _, beyond) in found.items()} == dict.fromkeys(found, 0)
    assert torch.equal(results[0].values("overlap", 3), results[1].values("overlap", 3))
    assert results[0].ties(3, "overlap") == 0
    assert results[0].ties(3, "unsupported_rate") == results[0].ties(3)
    if dtype == "bfloat16":
        assert sum(changed for changed, *_ in found.values()) > 0  # or there was nothing to count
        assert results[0].ties(3) > 0
        assert results[0].ties(3, "soft") > 0
