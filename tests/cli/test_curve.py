"""``estime curve``: the log of a training run -> a table and a plot."""

from __future__ import annotations

from pathlib import Path

import pytest

from estime_metric.comparison import read_training_log
from tests.command import run_command as run

LOG = """epoch,step,train_loss,val/copied,val/copied_density,val/inconsistency
0,49,3.21,,,
0,99,,0.41,1.2,0.412
1,149,2.1,,,
1,199,,0.71,2.0,0.142
2,299,,0.70,4.0,0.151
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "metrics.csv"
    path.write_text(LOG)
    return path


def test_the_log_is_a_table_and_a_plot_of_both_measures(log: Path, tmp_path: Path) -> None:
    plot = tmp_path / "curve.svg"
    shown = run("curve", log, "-o", plot).stdout
    assert [line.split() for line in shown.splitlines() if line.lstrip()[:1].isdigit()] == [
        ["99", "0", ".4120", ".4100"],
        ["199", "1", ".1420", ".7100"],
        ["299", "2", ".1510", ".7000"],
    ]
    assert "lowest inconsistency: 0.1420 at step 199\n" in shown
    assert "copied rose by 0.30. Part of the improvement may be copying." in shown
    assert f"wrote the plot to {plot}" in shown
    drawn = plot.read_text()
    for text in ("val/inconsistency", "val/copied", "lowest: 0.1420 at step 199"):
        assert f"<!-- {text} -->" in drawn
    assert set(tmp_path.iterdir()) == {log, plot}
    assert "curve.svg already exists." in run("curve", log, "-o", plot, status=2).stderr


def test_what_lightning_writes_is_read(tmp_path: Path) -> None:
    loggers = pytest.importorskip("lightning.pytorch.loggers")
    logger = loggers.CSVLogger(tmp_path, name="run", version=0)
    for step in range(3):
        logger.log_metrics({"loss": 1.0}, step=10 * step)
        values = {"val/inconsistency": 0.5 - step / 10, "val/copied_epoch": step / 10}
        logger.log_metrics({"epoch": step, **values}, step=10 * step + 9)
    logger.save()
    found = read_training_log(tmp_path / "run" / "version_0" / "metrics.csv")
    assert found.columns == {"inconsistency": "val/inconsistency", "copied": "val/copied_epoch"}
    assert [(point.step, point.epoch, point.copied) for point in found.points] == [
        (9, 0, 0.0),
        (19, 1, 0.1),
        (29, 2, 0.2),
    ]
    assert found.best == found.points[-1]


@pytest.mark.parametrize(
    ("before", "after", "options", "message"),
    [
        ("val/copied,", "val/other,", [], "a column that ends in 'copied' in metrics.csv"),
        ("train_loss", "train/copied", [], "train/copied and val/copied end in this name. Choose"),
        ("step", "when", ["--copied", "none"], "Expected --copied to be a column of metrics.csv"),
        ("epoch,step", "a,b", [], "Expected a column 'step' or 'epoch' in metrics.csv"),
        ("0.412", "nan", ["--inconsistency", "train_loss"], "but no step has both."),
    ],
)
def test_a_log_that_lacks_something_is_refused(
    log: Path, before: str, after: str, options: list[str], message: str
) -> None:
    log.write_text(LOG.replace(before, after))
    assert message in run("curve", log, *options, status=2).stderr


def test_the_columns_can_be_named(log: Path) -> None:
    log.write_text(LOG.replace("train_loss", "train/copied"))
    shown = run("curve", log, "--copied", "val/copied").stdout
    assert ".7100" in shown


def test_rows_that_cannot_be_read_are_named(log: Path, tmp_path: Path) -> None:
    """The one with the lowest inconsistency may be among them. An empty cell or NaN is nothing."""
    lines = LOG.splitlines()
    lines[4] += ",9"
    lines += ["3,x,,0.70,4.0,0.1", "3,399,,0.70,4.0,0.2x", "3,499,,nan,,NaN", "3,599,,inf,,0.1"]
    log.write_text("\n".join(lines) + "\n")
    shown = run("curve", log, "-o", tmp_path / "curve.svg", status=1)
    assert shown.stderr.splitlines() == [
        "skipped line 4: has more than the 6 columns of the header (line 5 of the file)",
        "skipped line 6: column 'step' should be a number, but is 'x'",
        "skipped line 7: column 'val/inconsistency' should be a number, but is '0.2x'",
        "skipped line 9: column 'val/copied' should be a number, but is 'inf'",
    ]
    assert "lowest inconsistency: 0.1510 at step 299" in shown.stdout
    assert (tmp_path / "curve.svg").exists()
    assert len(read_training_log(log).problems) == 4
