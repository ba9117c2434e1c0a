"""Processes that are forked from one that computes or has computed."""

from __future__ import annotations

import os

import pytest

from tests.command import run_with_forks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
]


def test_the_parent_is_loading_or_scoring() -> None:
    script = """
        from estime_metric import EstimeScorer
        from estime_metric.engine.encoder.forks import in_flight

        loaded, other = EstimeScorer(model="embedded-small"), EstimeScorer(model="embedded-small")
        def score():
            print(loaded.score(["A cat."], ["A cat sat."]).alarms.tolist(), flush=True)

        score()
        with in_flight():
            in_child(other.load)
            in_child(score)
        in_child(lambda: in_child(score))  # in the child of a child
    """
    alarms, loading, scoring, alarms_of_child = run_with_forks(script)
    assert loading == scoring
    assert scoring.startswith("RuntimeError: This process was forked while its parent was scoring")
    assert 'multiprocessing.get_context("spawn")' in scoring
    assert alarms_of_child == alarms
