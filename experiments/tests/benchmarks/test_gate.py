"""Systems of which is known whether they are equal."""

from __future__ import annotations

import pandas as pd

from experiments.benchmarks.gate import verdict

PAIRS = pd.DataFrame({"better": [0, 1], "worse": [2, 3]})
SCORES = pd.DataFrame(
    {"inconsistency": [0.1, 0.2, 0.5, 0.6], "copied_density": 1.0, "tokens": 9.0}
).assign(signature="ESTIME|")


def test_a_system_with_a_part_of_worse_summaries_is_stopped_and_an_equal_one_hardly_ever() -> None:
    worse = [verdict(PAIRS, SCORES, part=0.9, size=100, seed=seed) for seed in range(5)]
    assert worse == ["worse"] * 5
    equal = [verdict(PAIRS, SCORES, part=0.0, size=100, seed=seed) for seed in range(20)]
    assert set(equal) <= {"passed", "worse"}  # 2.5% are expected to be called worse
    assert equal.count("worse") <= 2
