"""The tables that a case prints on made-up data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import torch
import transformers

from experiments.speed import common
from experiments.speed.__main__ import main


@dataclass(frozen=True)
class PrintedTable:
    title: str
    columns: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., list[PrintedTable]]]:
    """Runs a case with arguments; returns its tables. Leaves the process as it was."""
    threads, level = torch.get_num_threads(), transformers.utils.logging.get_verbosity()

    def run_case(*arguments: object) -> list[PrintedTable]:
        main([str(argument) for argument in arguments])
        text = capsys.readouterr().out
        assert text.startswith(common.machine())
        return tables_of(text)

    yield run_case
    torch.set_num_threads(threads)
    transformers.utils.logging.set_verbosity(level)
    transformers.utils.logging.enable_progress_bar()


def tables_of(text: str) -> list[PrintedTable]:
    tables = []
    for title, body in re.findall(r"^(.+)\n\n((?:\|.*\|\n)+)", text, re.M):
        heads, _, *rows = [
            [cell.strip() for cell in line.strip("|").split(" | ")] for line in body.splitlines()
        ]
        assert {len(row) for row in rows} == {len(heads)}
        tables.append(PrintedTable(title, heads, rows))
    return tables
