"""Outputs that are whole or not there: written under another name, and renamed once they are
complete; one writer each.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from estime_metric.files.streams import is_standard


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name to write to. The file replaces ``path`` at the end of the block, unless the block
    raises.

    If ``path`` is a link, its target is replaced. If it is not a plain file, for example a pipe, it
    is written to directly.
    """
    target = Path(os.path.realpath(path))
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
    target = Path(os.path.realpath(path))
    stem, suffix = glob.escape(target.stem), glob.escape(target.suffix)
    for part in target.parent.glob(f".{stem}.*.part{suffix}"):
        part.unlink()


def lock_path(path: Path) -> Path:
    """The file that is locked while ``path`` is written to."""
    return Path(f"{os.path.realpath(path)}.lock")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Within the block no other one, of any process, writes to ``path``: BlockingIOError.

    The operating system unlocks the file when the process ends, so the one that a killed process
    leaves stops nobody.
    """
    name = lock_path(path)
    while True:
        with name.open("ab") as stream:
            _lock_or_refuse(stream.fileno(), path)
            if not _is_named(stream.fileno(), name):
                continue  # the run that had the lock has just removed the file
            try:
                yield
            finally:  # while it is locked, so that no other run can have locked it
                with suppress(OSError):  # Windows removes no open file: there it stays
                    name.unlink()
        return


def _lock_or_refuse(descriptor: int, path: Path) -> None:
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError) as error:
        raise BlockingIOError(
            f"Another run is writing to {path}. Wait until it has finished."
        ) from error
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):
            raise
        warnings.warn(
            f"The file system of {path} does not support locks. Do not start a second run with the "
            "same output.",
            stacklevel=4,
        )


def _is_named(descriptor: int, name: Path) -> bool:
    """Whether the open file is still the file with that name."""
    return name.exists() and os.path.samestat(os.fstat(descriptor), name.stat())


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
