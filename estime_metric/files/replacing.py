"""Outputs that are whole or not there: written beside their name, and renamed once they are done;
one writer each.
"""

from __future__ import annotations

import errno
import os
import secrets
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name to write to, which takes the place of ``path`` at the end of the block, unless that
    raises.

    Of a link the target is replaced; what is no plain file, such as a pipe, is written to itself.
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


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Within the block no other one, of any process, writes to ``path``: BlockingIOError.

    The operating system unlocks ``PATH.lock`` when the process ends, so the file that a killed one
    leaves stops nobody.
    """
    name = Path(f"{os.path.realpath(path)}.lock")
    while True:
        with name.open("ab") as stream:
            try:
                _lock(stream.fileno())
            except (BlockingIOError, PermissionError) as error:
                raise BlockingIOError(
                    f"Another run is writing to {path}: wait until it ends."
                ) from error
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.ENOTSUP):
                    raise
                warnings.warn(
                    f"The file system of {path} has no locks: start no second run.", stacklevel=3
                )
            if not name.exists() or not os.path.samestat(os.fstat(stream.fileno()), name.stat()):
                continue  # the run that held it has just removed it
            try:
                yield
            finally:
                with suppress(OSError):
                    name.unlink()
            return


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
    """Makes the folder of an output; FileExistsError where it holds something and ``overwrite`` is
    not set.
    """
    if path.exists() and not path.is_dir():
        raise ValueError(f"Expected the output to be a folder, but {str(path)!r} is a file.")
    path.mkdir(parents=True, exist_ok=True)
    if not overwrite and any(path.iterdir()):
        raise FileExistsError(
            f"{path} is not empty: name another folder, or replace its files with --overwrite."
        )
