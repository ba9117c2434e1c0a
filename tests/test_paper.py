"""``model="paper"`` is the setting of the paper, whatever else is not given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from estime_metric import estime
from estime_metric.config import PAPER_DEPTH, PAPER_MODEL
from tests.engine.encoder.test_loading import use_hub
from tests.families import SENTENCES, save_encoder
from tests.local_hub import COMMIT, LocalHub, serve
from tests.oracle import Oracle

__all__ = ["use_hub"]  # a fixture


@pytest.mark.slow
def test_the_paper_in_one_word(
    tmp_path: Path,
    use_hub: Callable[[str], None],
) -> None:
    """A stand-in for its checkpoint, as deep and with random weights, is scored as the specification
    says: its own tokens, windows of 450 with a margin of 50, every eighth token masked, layer 21.
    """
    folder = save_encoder(
        tmp_path / "stand-in", "bert", num_hidden_layers=PAPER_DEPTH, initializer_range=0.1
    )
    summary, source = " ".join(SENTENCES[3:5]), " ".join(2 * SENTENCES)
    with serve(LocalHub({PAPER_MODEL: folder}, {})) as hub:
        use_hub(hub.url)
        result = estime([summary], [source], model="paper")
    assert f"|model:{PAPER_MODEL}@{COMMIT}|layers:21|unit:token|" in result.signature
    assert "|window:450|margin:50|distance:8|normalize:no|dtype:float32|" in result.signature
    scored = [result[name].item() for name in ("tokens", "overlap", "alarms", "winners")]
    oracle = Oracle(str(folder), window=450, margin=50, distance=8)
    assert len(oracle.tokens(source)) > 2 * 450
    verdicts = oracle.score(summary, source, [20, 21, 22])
    assert verdicts[21].allows(*scored)
    # The numbers identify the setting.
    another = Oracle(str(folder), distance=2).score(summary, source, [21])[21]
    for other in (verdicts[20], verdicts[22], another):
        assert not other.allows(*scored)
