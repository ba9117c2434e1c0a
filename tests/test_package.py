"""The package as it is imported: light, without side effects, with every public name."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_importing_is_light_and_has_no_side_effects() -> None:
    out = run("""
        import logging, os, sys, warnings
        levels = {name: logging.getLogger(name).level for name in ("", "transformers", "torch")}
        handlers, environment, filters = list(logging.root.handlers), dict(os.environ), list(warnings.filters)
        import estime_metric
        dir(estime_metric), estime_metric.__version__, estime_metric.EstimeConfig
        heavy = {"torch", "transformers", "numpy", "pandas", "tqdm", "cyclopts"} & set(sys.modules)
        assert not heavy, heavy
        assert levels == {name: logging.getLogger(name).level for name in levels}
        assert handlers == logging.root.handlers
        assert environment == dict(os.environ)
        assert filters == warnings.filters
    """)
    assert out == ""


@pytest.mark.slow
def test_every_public_name_is_there() -> None:
    out = run("""
        import estime_metric
        for name in estime_metric.__all__:
            assert getattr(estime_metric, name) is not None, name
        assert set(estime_metric.__all__) <= set(dir(estime_metric))
        try:
            estime_metric.no_such_name
        except AttributeError as error:
            print(error)
    """)
    assert out == "module 'estime_metric' has no attribute 'no_such_name'\n"
