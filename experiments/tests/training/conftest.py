"""Made-up judged pairs of all sets."""

from __future__ import annotations

import pandas as pd
import pytest

from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from experiments.training import choose, formula
from experiments.training.judged import HALVES, SETS
from tests.families import SENTENCES

SOURCE = " ".join(SENTENCES[:4])
GROUPS = {"frank": ("cnndm A", "cnndm B"), "cliff": ("cnndm", "xsum"), "summeval": ("A", "B")}


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Sixteen pairs of each set in each half, on four documents, in place of the sets on disk."""
    qualities = {name: (2 + place) for place, name in enumerate(QUALITIES)}
    pairs = pd.DataFrame(
        {
            "set": of,
            "half": half,
            "document": f"{number // 4}",
            "group": f"{number // 2}" if of == "bump" else GROUPS[of][number // 2 % 2],
            "summary": f"{SENTENCES[number % 4]} {SENTENCES[4 + number % 3]}",
            "source": SOURCE,
            "judged": float(number % 2),
            **{name: number % cycle for name, cycle in qualities.items()},
            "spans": SENTENCES[number % 4].split()[:2],
        }
        for of in SETS
        for half in HALVES
        for number in range(16)
    )
    for module in (choose, formula):
        monkeypatch.setattr(module, "read_pairs", lambda data: pairs)
    return pairs
