"""Processes that are forked from one that computes or has computed."""

from __future__ import annotations

import os

import pytest

from tests.command import run_with_forks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
]


def test_the_parent_has_imported_the_package_and_others_have_computed(
    summeval: list[tuple[str, str]],
) -> None:
    """With texts of real lengths: products of short ones are too small for several threads."""
    script = """
        import torch, warnings, estime_metric

        def score():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = estime_metric.estime([sys.argv[1]], [sys.argv[2]], model="embedded-small", device="cpu")
            print(int(result.tokens), [str(warning.message)[:23] for warning in caught], flush=True)

        torch.set_num_threads(2)
        block = torch.nn.TransformerEncoderLayer(512, 8, batch_first=True).eval()
        block(torch.rand(8, 256, 512))
        in_child(score)
    """
    (printed,) = run_with_forks(script, *summeval[0])
    tokens, warned = printed.split(maxsplit=1)
    assert int(tokens) > 10
    assert warned == "['This process was forked']"


def test_the_parent_is_loading_or_scoring() -> None:
    script = """
        from estime_metric import EstimeScorer
        from estime_metric.engine.encoder.forks import in_flight

        loaded, other = (EstimeScorer(model="embedded-small", device="cpu") for _ in range(2))
        def score():
            print(loaded.score(["A cat."], ["A cat sat."]).alarms.tolist(), flush=True)

        score()
        with in_flight():
            in_child(other.load)
            in_child(score)
        in_child(score)
    """
    alarms, loading, scoring, alarms_of_child = run_with_forks(script)
    assert loading == scoring
    assert scoring.startswith("RuntimeError: This process was forked while its parent was scoring")
    assert 'multiprocessing.get_context("spawn")' in scoring
    assert alarms_of_child == alarms
