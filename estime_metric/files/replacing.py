"""Outputs that are whole or not there: written beside their name, and renamed once they are done."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name to write to in place of ``path``, which takes its place at the end of the block.

    Where the block raises, as on a full disk, ``path`` is left as it was and nothing lies beside it. What a link points
    to is replaced, not the link; what is no plain file, such as a pipe, is written to itself.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    unfinished = target.with_name(f".{target.stem}.part{target.suffix}")
    try:
        with named(path):
            yield unfinished
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Errors of the system that name no file, as that of a full disk, name ``path``."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Writes a file of UTF-8, see `replaced`."""
    with replaced(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)


def make_folder(path: Path, *, overwrite: bool) -> None:
    """Makes the folder of an output, or refuses one that holds something, before any work is done.

    Args:
        path: the folder.
        overwrite: whether files in it may be replaced.

    Raises:
        ValueError: it is a file.
        FileExistsError: it holds something, and ``overwrite`` is not set.
        OSError: it cannot be made.
    """
    if path.exists() and not path.is_dir():
        raise ValueError(f"Expected the output to be a folder, but {str(path)!r} is a file.")
    path.mkdir(parents=True, exist_ok=True)
    if not overwrite and any(path.iterdir()):
        raise FileExistsError(f"{path} is not empty: name another folder, or replace its files with --overwrite.")
