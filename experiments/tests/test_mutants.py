"""Mutations: each changes one expression, and what is no part of a result stays."""

from __future__ import annotations

from pathlib import Path

from experiments.mutants import MUTATED, ROOT, TESTS, main, mutations

TEXT = """
def share(numbers: tuple[int, int] = (1, 2)) -> float:
    if numbers[0] > 3:
        raise ValueError(f"{numbers[0] + 1}")
    return numbers[0] / numbers[1]
"""


def test_each_mutation_changes_one_expression() -> None:
    made = list(mutations(Path("share.py"), TEXT))
    assert [(mutation.before, mutation.after) for mutation in made] == [
        ("1", "2"),
        ("2", "3"),
        ("numbers[0] > 3", "numbers[0] >= 3"),
        ("0", "1"),
        ("3", "4"),
        ("numbers[0] / numbers[1]", "numbers[0] * numbers[1]"),
        ("0", "1"),
        ("1", "2"),
    ]
    for mutation in made:
        compile(mutation.source, "share.py", "exec")


def test_the_files_are_there_and_the_lot_is_drawn_by_the_seed(capsys) -> None:
    assert all((ROOT / name).exists() for name in (*MUTATED, *TESTS))
    shown = []
    for _ in range(2):
        assert main(["--number", "3", "--seed", "5", "--list"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert shown[0].count("  ->  ") == 3
