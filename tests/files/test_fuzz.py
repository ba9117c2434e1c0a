"""A part of the mutated files of `tests.files.fuzz`."""

from __future__ import annotations

import random
from pathlib import Path

from tests.files.fuzz import examples, run, seeds


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    outcomes = list(run(300, 1, 200, tmp_path))
    assert sum(bool(read.refusal) for read in outcomes) > 50
    assert sum(read.problems > 0 and read.rows > 100 for read in outcomes) > 25


def test_the_files_are_other_ones_with_another_seed_and_of_every_format() -> None:
    assert list(examples(40, 1, 9)) == list(examples(40, 1, 9))
    assert list(examples(40, 1, 9)) != list(examples(40, 2, 9))
    assert {name for name, _ in examples(40, 1, 9)} == set(seeds(random.Random(1), 9))
