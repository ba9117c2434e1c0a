"""The package as it is imported: light, without side effects, with every public name."""

from __future__ import annotations

from tests.command import run_python


def test_importing_is_light_and_has_no_side_effects_and_every_public_name_is_there() -> None:
    run = run_python("""
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
        for name in estime_metric.__all__:
            assert getattr(estime_metric, name) is not None, name
        assert set(estime_metric.__all__) <= set(dir(estime_metric))
        try:
            estime_metric.no_such_name
        except AttributeError as error:
            print(error)
    """, PYTHONWARNINGS="error")  # fmt: skip
    assert (run.stdout, run.stderr) == ("module 'estime_metric' has no attribute 'no_such_name'\n", "")
