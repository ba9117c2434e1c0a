"""Mutations: each changes one expression, and what is no part of a result stays."""

from __future__ import annotations

import ast
from pathlib import Path

from experiments.mutants import MUTATED, ROOT, TESTS, main, mutations, nearest_first

TEXT = """
def share(numbers: tuple[int, int] = (1, 2)) -> float:
    if numbers[0] > 3:
        raise ValueError(f"{numbers[0] + 1}")
    return numbers[0] / numbers[1]
"""


def drawn_from(text: str) -> dict[str, bytes]:
    """The ranks of all mutations of a file, by what they show."""
    made = mutations(Path("share.py"), text)
    return {f"{mutation.before} {mutation.after}": mutation.rank(seed=0) for mutation in made}


def test_each_mutation_changes_one_expression() -> None:
    made = list(mutations(Path("share.py"), TEXT))
    assert [(mutation.before, mutation.after) for mutation in made] == [
        ("(1, 2)", "(2, 2)"),
        ("(1, 2)", "(1, 3)"),
        ("numbers[0] > 3", "numbers[0] >= 3"),
        ("numbers[0] > 3", "numbers[1] > 3"),
        ("numbers[0] > 3", "numbers[0] > 4"),
        ("numbers[0] / numbers[1]", "numbers[0] * numbers[1]"),
        ("numbers[0] / numbers[1]", "numbers[1] / numbers[1]"),
        ("numbers[0] / numbers[1]", "numbers[0] / numbers[2]"),
    ]
    for mutation in made:
        compile(mutation.source, "share.py", "exec")
        assert ast.dump(ast.parse(mutation.source)) != ast.dump(ast.parse(TEXT))
        assert mutation.after in mutation.source


def test_an_edit_elsewhere_changes_no_rank() -> None:
    before = drawn_from(TEXT)
    assert len(set(before.values())) == len(before)
    edited = f"LIMIT = 7\n\ndef other(n):\n    return n + 1\n{TEXT}".replace("> 3:", "> (3):")
    assert before.items() < drawn_from(edited).items()
    again = list(mutations(Path("share.py"), TEXT + TEXT[TEXT.index("    return") :]))
    assert len({mutation.rank(seed=0) for mutation in again}) == len(again) == len(before) + 3


def test_the_tests_of_the_changed_module_come_first() -> None:
    example, first, *others = nearest_first(Path("estime_metric/engine/encoder/batching.py"))
    assert example.endswith("encoder/batching.py")
    assert "estime_metric.engine.encoder.batching" in (ROOT / first).read_text()  # imports it
    _, named, *_ = nearest_first(Path("estime_metric/engine/cache.py"))
    assert named == "tests/engine/test_cache.py"
    assert named in others


def test_the_files_are_there_and_the_lot_is_drawn_by_the_seed(capsys) -> None:
    assert all((ROOT / name).exists() for name in (*MUTATED, *TESTS))
    shown = []
    for _ in range(2):
        assert main(["--number", "3", "--seed", "5", "--list"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert shown[0].count("  ->  ") == 3
