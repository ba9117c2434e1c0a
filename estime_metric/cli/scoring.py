"""Files of texts -> tables of their scores, for the commands that read scores."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from estime_metric import files
from estime_metric.cli.waiting import Bar
from estime_metric.jobs import Job, score_files

if TYPE_CHECKING:
    import pandas as pd

    from estime_metric.scorer import EstimeScorer

_PREFIX = "estime_"  # of the scores, so that the texts can have any other columns


def score_table(
    path: Path,
    scorer: EstimeScorer,
    layout: files.Layout,
    *,
    own_columns: Collection[str] = (),
    quiet: bool = False,
) -> tuple[pd.DataFrame, int]:
    """The scores of a file of texts, with the texts, as `read_scores` gives them for the output of
    ``estime score``, and how many invalid rows were skipped. The screen shows how far it is, and names these rows.
    """
    from estime_metric.comparison import read_scores  # imports pandas: slow

    with TemporaryDirectory() as folder:
        output = Path(folder) / "scores.jsonl"
        job = Job(inputs=(path,), output=output, layout=layout, prefix=_PREFIX, keep_texts=True)
        with Bar(job, quiet=quiet) as bar:
            score_files(job, scorer, progress=bar)
        table = read_scores(output, own_columns=own_columns)
    line = f"{_PREFIX}{files.LINE}" if files.LINE in own_columns else files.LINE
    return table.set_index(table[line].rename(files.LINE)), bar.skipped


@contextmanager
def rereadable(path: Path) -> Iterator[Path]:
    """A file that can be read twice, with what standard input or a pipe contains; any other file as
    it is.
    """
    if not (files.is_standard(path) or path.is_fifo()):
        yield path
        return
    with TemporaryDirectory() as folder:
        name = "standard-input.jsonl" if files.is_standard(path) else path.name
        copy = Path(folder) / name
        with copy.open("wb") as stream:
            if files.is_standard(path):
                shutil.copyfileobj(sys.stdin.buffer, stream)
            else:
                with path.open("rb") as pipe:
                    shutil.copyfileobj(pipe, stream)
        yield copy
