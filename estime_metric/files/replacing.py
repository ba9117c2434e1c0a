"""Outputs that are whole or not there: written under another name, and renamed once they are
complete; one writer each.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from estime_metric.files.streams import is_standard


def resolved(path: Path) -> Path:
    """The file that is written to: the target if ``path`` is a link, so that everything next to it
    belongs to the target too.
    """
    is_link = path.is_symlink() and not is_standard(path)
    return Path(os.path.realpath(path)) if is_link else path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name to write to. The file replaces ``path`` at the end of the block, unless the block
    raises.

    If ``path`` is a link, its target is replaced. If it is not a plain file, for example a pipe, it
    is written to directly.
    """
    target = resolved(path)
    if target.exists() and not target.is_file():
        yield target
        return
    unfinished = target.with_name(f".{target.stem}.{secrets.token_hex(4)}.part{target.suffix}")
    try:
        with named(path):
            yield unfinished
            unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def remove_unfinished(path: Path) -> None:
    """Removes what killed processes have left of `replaced` files with this path. No other process
    may write to it, see `locked`.
    """
    stem, suffix = glob.escape(path.stem), glob.escape(path.suffix)
    for part in path.parent.glob(f".{stem}.*.part{suffix}"):
        part.unlink()


def lock_path(path: Path) -> Path:
    """The file that is locked while ``path`` is written to; it stays there, empty."""
    return path.with_name(f"{path.name}.lock")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Within the block no other one, of any process, writes to ``path``: BlockingIOError.

    The operating system unlocks the file when the process ends, so the one that a process leaves
    stops nobody. On a file system without locks, there is a warning and no lock.
    """
    from filelock import FileLock, Timeout  # slow

    lock = FileLock(lock_path(path), timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise BlockingIOError(
            f"Another run is writing to {path}. Wait until it has finished."
        ) from error
    except (NotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.ENOLCK, errno.ENOTSUP):
            raise
        warnings.warn(
            f"The file system of {path} does not support locks. Do not start a second run with the "
            "same output.",
            stacklevel=4,
        )
    try:
        yield
    finally:
        lock.release()


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Adds ``path`` to errors of the system that name no file, such as a full disk."""
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
    """Makes the folder of an output.

    Raises FileExistsError if it is not empty and ``overwrite`` is not set, ValueError if it is a
    file or standard output.
    """
    if is_standard(path):
        raise ValueError(
            f"Expected the output to be a folder, but {str(path)!r} means standard output."
        )
    if path.exists() and not path.is_dir():
        raise ValueError(f"Expected the output to be a folder, but {str(path)!r} is a file.")
    path.mkdir(parents=True, exist_ok=True)
    if not overwrite and any(path.iterdir()):
        raise FileExistsError(
            f"{path} is not empty. Name another folder, or use `overwrite` to replace its files."
        )
