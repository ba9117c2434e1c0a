"""Outputs that are whole or not there."""

from __future__ import annotations

import errno
from pathlib import Path
from unittest import mock

import pytest

from estime_metric.jobs import Job
from estime_metric.table.formats import WRITABLE
from estime_metric.table.output import (
    check_writable,
    locked,
    record_path,
    remove_unfinished,
    replaced,
)


def test_what_a_killed_process_has_left_is_removed_and_nothing_of_other_outputs(
    tmp_path: Path,
) -> None:
    out, others = tmp_path / "s[1].jsonl", ["s[1].v2.jsonl", "s[1]1.jsonl", "s1.jsonl", "s[1].csv"]
    left = []
    for name in (out.name, *others):
        with replaced(tmp_path / name) as unfinished:
            unfinished.touch()
            left.append(unfinished)
    for path in left:
        path.touch()  # as if its process had been killed
    remove_unfinished(out)
    assert [path.exists() for path in left] == [False, True, True, True, True]


def test_what_would_fail_at_the_end_fails_first_and_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with (
        mock.patch(
            "pathlib.Path.rename", side_effect=PermissionError(1, "Operation not permitted")
        ),
        pytest.raises(PermissionError, match="not permitted"),
    ):
        check_writable(out, endings=WRITABLE)
    out.touch()
    with (
        mock.patch("os.path.ismount", lambda path: path == out),
        pytest.raises(PermissionError, match="cannot be replaced"),
    ):
        check_writable(out, endings=WRITABLE)
    check_writable(tmp_path / "other.jsonl", endings=WRITABLE)
    assert {path.name for path in tmp_path.iterdir()} == {"out.jsonl"}


def test_a_run_that_begins_is_not_stopped_by_one_that_holds_the_lock(tmp_path: Path) -> None:
    """The latter removes what killed processes have left, and with it the trial of the former."""
    out = tmp_path / "out.jsonl"
    touch = Path.touch

    def touch_and_remove(path: Path) -> None:
        touch(path)
        remove_unfinished(record_path(out))

    with mock.patch("pathlib.Path.touch", touch_and_remove):
        check_writable(out, endings=WRITABLE)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_no_output(tmp_path: Path) -> None:
    for folder in (Path(), tmp_path):
        with pytest.raises(ValueError, match=r"the output to be a file, but '.*' is a folder"):
            Job(inputs=(tmp_path / "a.jsonl",), output=folder)


def test_a_file_system_without_locks_gets_a_warning_and_no_lock(tmp_path: Path) -> None:
    with (
        mock.patch("filelock.FileLock.acquire", side_effect=OSError(errno.ENOLCK, "none")),
        pytest.warns(UserWarning, match="does not support locks"),
        locked(tmp_path / "a"),
    ):
        pass
    with (
        mock.patch("filelock.FileLock.acquire", side_effect=OSError(errno.EACCES, "no")),
        pytest.raises(PermissionError),
        locked(tmp_path / "a"),
    ):
        pass
