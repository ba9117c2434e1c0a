"""Outputs that are whole or not there: checked first, written under another name, and renamed once they
are complete; one writer each.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from estime_metric._messages import needs_extra

PARQUET = ".parquet"
GZIP = ".gz"
STANDARD = ".jsonl"  # the format of standard output

_TOKEN = 4  # bytes that make the name of an unfinished file unique


def is_standard(path: Path) -> bool:
    """Whether a path means standard input or output: ``-``, ``/dev/stdin``, ``/dev/stdout``."""
    return str(path) in ("-", "/dev/stdin", "/dev/stdout")


def resolved(path: Path) -> Path:
    """The file that is written to: the target if ``path`` is a link, so that everything next to it
    belongs to the target too.
    """
    is_link = path.is_symlink() and not is_standard(path)
    return Path(os.path.realpath(path)) if is_link else path


def check_different(paths: Iterable[Path]) -> None:
    """Refuses a file that is named twice, also by another path or a link to it (ValueError)."""
    by_file: dict[object, Path] = {}
    for path in paths:
        file = _identity(path)
        if file in by_file:
            first = by_file[file]
            raise ValueError(
                f"Expected every input file only once, but got {str(first)!r} and {str(path)!r}, which are "
                "the same file."
            )
        by_file[file] = path


def _identity(path: Path) -> object:
    """What all names of a file have in common."""
    if is_standard(path):
        return STANDARD
    try:
        status = path.stat()
    except OSError:  # there is no such file, which reading it will say
        return path.resolve()
    return status.st_dev, status.st_ino


def check_writable(
    path: Path,
    inputs: Iterable[Path] = (),
    *,
    overwrite: bool = True,
    endings: Collection[str],
) -> None:
    """Refuses a path that could not or should not be written, before any work is done; ``-`` is
    accepted if ``endings`` contain the format of standard output, ``.jsonl``.

    Raises FileExistsError if it or a record next to it exists and ``overwrite`` is not set, ImportError
    for Parquet without pyarrow, OSError if its folder cannot be written to, ValueError for everything
    else that is wrong with it, such as that it, or what belongs to it, is an input or an input's record.
    """
    if is_standard(path) and STANDARD in endings:
        return
    if path.is_dir():
        raise ValueError(f"Expected the output to be a file, but {str(path)!r} is a folder.")
    ending = path.suffix.lower()
    if ending not in endings:
        raise ValueError(
            f"Expected the output to end in {' or '.join(endings)}, but got {path.name!r}."
        )
    target = resolved(path)
    if not target.parent.is_dir():
        raise ValueError(
            f"Expected the output's folder to exist, but there is no {str(target.parent)!r}."
        )
    read_files = chain.from_iterable((read, *record_paths(read)) for read in inputs)
    existing = list(filter(Path.exists, read_files))
    belonging = (*_written_paths(path), journal_path(target), lock_path(target))
    for written in filter(Path.exists, belonging):
        for read in filter(written.samefile, existing):
            raise ValueError(
                f"Expected the output to differ from the inputs and their records, but "
                f"{str(written)!r} is {'one' if read == written else repr(str(read))}. If a pattern "
                "such as *.jsonl matches it, name the inputs."
            )
    if not overwrite:
        check_absent(path)
    if ending == PARQUET:
        import_pyarrow()
    if not path.exists() or path.is_file():  # a pipe is written to directly
        with named(path):
            _try_to_replace(target)


def check_absent(path: Path) -> None:
    """Refuses to replace a file, or a record where that of the file will be (FileExistsError)."""
    for written in filter(Path.exists, _written_paths(path)):
        raise FileExistsError(f"{written} already exists. Use `overwrite` to replace it.")


def _written_paths(path: Path) -> list[Path]:
    """An output, and its record."""
    return [path, record_path(resolved(path))]


def import_pyarrow() -> Any:
    """The package ``pyarrow`` with its module for Parquet; ImportError if it is not installed."""
    with needs_extra("files", "Parquet needs pyarrow"):
        import pyarrow.parquet
    return pyarrow


def _try_to_replace(target: Path) -> None:
    """Raises the OSError with which `replaced` would end: no permission, or too long a name. The
    longest name is that of the record of a table.
    """
    record = record_path(target)
    trial = unfinished_path(record)
    trial.touch()
    try:
        with suppress(FileNotFoundError):  # a run that holds the lock has removed it
            trial = trial.rename(unfinished_path(record))
    finally:
        trial.unlink(missing_ok=True)
    if os.path.ismount(target):  # a container can have a single file of its host
        raise PermissionError(errno.EPERM, "The file cannot be replaced")


def record_path(path: Path) -> Path:
    """The file with the record of a table of JSON Lines or CSV; Parquet contains its record."""
    return path.parent / f"{path.name}.meta.json"


def record_paths(path: Path) -> list[Path]:
    """Where the record of a table can be: ``gzip`` leaves it under the name of the plain file."""
    tables = [path, path.with_suffix("")] if path.suffix.lower() == GZIP else [path]
    return list(map(record_path, tables))


def unfinished_path(target: Path) -> Path:
    """A new name for a file that is being written, next to the file that it will replace."""
    return target.with_name(f".{target.stem}.{secrets.token_hex(_TOKEN)}.part{target.suffix}")


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A name to write to. The file replaces ``path`` at the end of the block, unless the block
    raises; then it is on disk under this name.

    If ``path`` is a link, its target is replaced. If it is not a plain file, for example a pipe, it
    is written to directly.
    """
    target = resolved(path)
    if target.exists() and not target.is_file():
        yield target
        return
    unfinished = unfinished_path(target)
    try:
        with named(path):
            yield unfinished
            with unfinished.open("rb+") as stream:
                os.fsync(stream.fileno())
            unfinished.replace(target)
            sync_folder(target.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Returns once the names in a folder are on disk, on systems and file systems that can say so."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_unfinished(path: Path) -> None:
    """Removes what killed processes have left of `replaced` files with this path. No other process
    may write to it, see `locked`.
    """
    token = "[0-9a-f]" * 2 * _TOKEN
    # What is written for another file, such as `scores.v2.jsonl`, has another name.
    for part in path.parent.glob(f".{glob.escape(path.stem)}.{token}.part{path.suffix}"):
        part.unlink()


def journal_path(path: Path) -> Path:
    """The journal of a job that writes to ``path``, until that is finished."""
    return path.parent / f"{path.name}.rows.jsonl"


def lock_path(path: Path) -> Path:
    """The file that is locked while ``path`` is written to; it stays there, empty."""
    return path.parent / f"{path.name}.lock"


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
    """Errors of the system, such as a full disk, name ``path`` and not the file that is being written."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and ".part" not in str(error.filename):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def write_text(path: Path, text: str) -> None:
    """Writes a file of UTF-8, see `replaced`."""
    with replaced(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as stream:
        stream.write(text)


def write_standard_output(data: bytes) -> None:
    r"""Writes bytes of UTF-8 to standard output as they are, whatever the encoding of the screen is.

    No line break becomes ``\r\n``. If standard output accepts only text, as in a notebook, it gets
    the text. Raises OSError if it is closed.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "Standard output is closed")
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode("utf-8"))
    else:
        cast(BinaryIO, binary).write(data)
    sys.stdout.flush()
