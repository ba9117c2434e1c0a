"""The folder of an output."""

from __future__ import annotations

from pathlib import Path

from estime_metric.table.output import is_standard


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
