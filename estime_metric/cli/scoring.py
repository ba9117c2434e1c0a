"""Files of scores or of texts -> tables of scores, for the commands that read scores."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from estime_metric import files
from estime_metric.cli.console import warn_of_rows
from estime_metric.cli.waiting import Bar
from estime_metric.jobs import Job, score_files

if TYPE_CHECKING:
    import pandas as pd

    from estime_metric.scorer import EstimeScorer

_PREFIX = "estime_"  # of the scores, so that the texts can have any other columns


def read_or_score(
    path: Path,
    layout: files.Layout,
    *,
    is_scored: Callable[[pd.DataFrame], bool],
    new_scorer: Callable[[], EstimeScorer],
    own_columns: Collection[str],
    quiet: bool,
) -> tuple[pd.DataFrame, int]:
    """The scores of a file as `read_scores` gives them, and how many invalid rows were skipped,
    which the screen names. Text files, and a table that ``is_scored`` does not accept, are scored.

    Raises ValueError if a table has no rows.
    """
    from estime_metric.comparison import read_scores  # imports pandas: slow

    with _rereadable(path) as readable:
        if layout.source_file is None:
            problems: list[str] = []
            table = read_scores(readable, layout, own_columns=own_columns, skipped=problems)
            if table.empty:
                warn_of_rows(problems)
                raise ValueError(
                    f"Expected {path.name} to have scores or pairs, but it has no rows"
                    f"{files.header_hint(path)}."
                )
            if is_scored(table):
                warn_of_rows(problems)
                return table, len(problems)
            del table  # texts, which are read again
        return _score(readable, new_scorer(), layout, own_columns, quiet=quiet)


def _score(
    path: Path,
    scorer: EstimeScorer,
    layout: files.Layout,
    own_columns: Collection[str],
    *,
    quiet: bool,
) -> tuple[pd.DataFrame, int]:
    """The scores of a file of texts, with the texts; the screen shows how far it is."""
    from estime_metric.comparison import read_scores

    with TemporaryDirectory() as folder:
        output = Path(folder) / "scores.jsonl"
        job = Job(inputs=(path,), output=output, layout=layout, prefix=_PREFIX, keep_texts=True)
        with Bar(job, quiet=quiet) as bar:
            score_files(job, scorer, progress=bar)
        table = read_scores(output, own_columns=own_columns)
    line = f"{_PREFIX}{files.LINE}" if files.LINE in own_columns else files.LINE
    return table.set_index(table[line].rename(files.LINE)), bar.skipped


@contextmanager
def _rereadable(path: Path) -> Iterator[Path]:
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
