"""One encoder in memory, however often the metric is loaded and computed, and none after `unload`."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer
from estime_metric.engine import encoder as encoder_module
from tests.families import save_encoder
from tests.integrations.evaluate.conftest import SCRIPT

evaluate = pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import Estime  # noqa: E402

pytestmark = pytest.mark.usefixtures("evaluate_home")

#: Where Linux says how many pages of memory a process holds.
STATM = Path("/proc/self/statm")


@pytest.fixture
def own_folder(tmp_path: Path) -> str:
    """A small BERT that no other test holds in memory."""
    save_encoder(tmp_path, "bert", seed=3)
    return str(tmp_path)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that are loaded from disk, one entry for each load; none is in memory before."""
    Estime().unload()
    gc.collect()
    seen: list[str] = []
    load = encoder_module.load_pretrained

    def counted(model: str, *arguments: Any) -> Any:
        seen.append(model)
        return load(model, *arguments)

    monkeypatch.setattr(encoder_module, "load_pretrained", counted)
    return seen


def test_twenty_loads_and_computes_keep_one_encoder(own_folder: str, texts: dict, loads: list[str]) -> None:
    few = {name: column[:2] for name, column in texts.items()}
    memory = []
    for _ in range(20):
        evaluate.load(str(SCRIPT), model=own_folder).compute(**few, measures="winners")
        memory.append(int(STATM.read_text(encoding="ascii").split()[1]) if STATM.exists() else 0)
    assert loads == [own_folder]
    assert memory[-1] - memory[4] < 2_500  # pages: 10 MB


def test_unload_frees_the_encoder(own_folder: str, texts: dict, loads: list[str]) -> None:
    metric = Estime(model=own_folder)
    expected = metric.compute(**texts)
    encoder = weakref.ref(EstimeScorer(model=own_folder).encoder)
    assert encoder() is not None
    metric.unload()
    gc.collect()
    assert encoder() is None
    assert metric.compute(**texts) == expected
    assert loads == [own_folder] * 2
