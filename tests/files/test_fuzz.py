"""A part of the mutated files of `tests.files.fuzz`."""

from __future__ import annotations

import random
from pathlib import Path

from tests.files.fuzz import examples, run, seeds


def test_mutated_files_are_read_or_refused_within_their_memory(tmp_path: Path) -> None:
    outcomes = [found for _, found in run(300, 1, 200, tmp_path)]
    assert not [found for found in outcomes if found.is_too_large]
    assert sum(bool(found.refusal) for found in outcomes) > 50
    assert sum(found.problems > 0 and found.rows > 100 for found in outcomes) > 25


def test_the_files_are_other_ones_with_another_seed_and_of_every_format() -> None:
    assert list(examples(40, 1, 9)) == list(examples(40, 1, 9))
    assert list(examples(40, 1, 9)) != list(examples(40, 2, 9))
    assert {name for name, _ in examples(40, 1, 9)} == set(seeds(random.Random(1), 9))
