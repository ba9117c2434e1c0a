"""What a missing package of an extra says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from estime_metric._messages import needs_extra
from tests.command import run_python, write_jsonl


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = r"^Plots need matplotlib: pip install 'estime-metric\[plot\]'\.$"
    with (
        pytest.raises(ImportError, match=message) as raised,
        needs_extra("plot", "Plots need matplotlib"),
    ):
        import matplotlib  # noqa: F401
    assert isinstance(raised.value.__cause__, ModuleNotFoundError)


@pytest.mark.slow
def test_score_compare_calibrate_and_explain_need_no_extra(tmp_path: Path) -> None:
    labels = [
        {
            "source": "Anna bought the red boat.",
            "summary": summary,
            "label": label,
            "mine": label / 2,
        }
        for summary, label in (("Anna bought a boat.", 1), ("Peter sold the boat.", 0))
    ]
    table = write_jsonl(tmp_path / "pairs.jsonl", labels)
    other = write_jsonl(tmp_path / "other.jsonl", labels[::-1])
    script = """
        import sys

        names = "matplotlib scipy pyarrow datasets evaluate nltk gradio torchmetrics ray"
        for name in names.split():
            sys.modules[name] = None
        from estime_metric.cli import main

        table, other = sys.argv[1:]
        for command in (
            ["score", table, "-m", "embedded-small"],
            ["compare", table, other],
            ["calibrate", table, "--score", "mine", "--higher"],
            ["explain", table, "-m", "embedded-small"],
        ):
            try:
                main(command)
            except SystemExit as left:
                assert left.code == 0, command
    """
    run_python(script, table, other)
