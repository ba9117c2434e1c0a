"""``estime benchmark summeval`` as its user meets it: the screen, the files, the exit status."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import pytest

from estime_metric.studies.benchmarks.summeval.data import read_folder
from tests.command import csv_rows, run_command, run_python
from tests.studies.conftest import folder

__all__ = ["folder"]  # a fixture
run = partial(run_command, "benchmark", "summeval", columns=160)


def quick(folder: Path, encoder: str) -> list[object]:
    return ["--data", folder, "-m", encoder, "--bertscore-model", encoder, "--resamples", 5]


@pytest.mark.slow
def test_what_cannot_be_measured_is_said(
    folder: Path, bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)  # as if it were not installed
    shown = run(
        *quick(folder, bert_folder), "-q", "--bertscore-model", "./no-such-folder", status=1
    )
    assert re.search(r"^ *BLEU +– +0.095 ", shown.stdout, re.MULTILINE)
    assert re.search(r"^ *BERTScore-R +– +0.164", shown.stdout, re.MULTILINE)
    assert re.search(r"^ *ROUGE-1 +-?0[.]\d+ +0.137 ", shown.stdout, re.MULTILINE)
    assert "BLEU: BLEU needs sacrebleu: pip install 'estime-metric[meta]'." in shown.stderr
    assert "BERTScore: The encoder './no-such-folder' cannot be loaded" in shown.stderr


@pytest.mark.slow
def test_a_missing_extra_is_named(folder: Path) -> None:
    script = (
        "import sys; sys.modules['scipy'] = None; from estime_metric.cli import main; "
        f"main(['benchmark', 'summeval', '-m', 'embedded-small', '--data', {str(folder)!r}])"
    )
    assert "pip install 'estime-metric[meta]'" in run_python(script, status=2).stderr


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_further_measures_and_scores_of_files_are_rows(
    folder: Path, bert_folder: str, tmp_path: Path
) -> None:
    data, path, out = read_folder(folder), tmp_path / "mine.csv", tmp_path / "out"
    pairs = zip(data.keys, data.summaries, strict=True)
    lines = [f"{','.join(key)},{len(text)},{len(text) % 5}" for key, text in pairs]
    path.write_text(
        "\n".join(["document,system,size,supert", *lines[::-1]]) + "\n", encoding="utf-8"
    )
    options = ["-q", "-l", 2, "--measures", "soft,alarm_rate", "--limit", 2, "-o", out]
    options += ["--bertscore-model", "none", "--scores", path, "--lower", "size"]
    shown = run(*quick(folder, bert_folder), *options).stdout
    measures = {row["measure"] for row in csv_rows(out / "correlations.csv") if row["value"]}
    assert {"soft-2", "(-)alarm_rate-2", "(-)size [mine]", "SUPERT [mine]"} <= measures
    assert "BERTScore-F1" not in measures
    assert len(csv_rows(out / "scores.csv")) == 6
    assert "Differences of Spearman's ρ" in " ".join(shown.split())
