"""Which single changes of the engine its tests do not notice.

    python -m experiments.mutants --number 25 --seed 0

Draws mutations by lot over the engine and the formulas of the measures: a comparison, an operator, a
number, a condition or an argument is changed, one at a time, in a copy of the package. The tests of the
engine run on each copy until one fails. Prints every mutation with its verdict; a survivor is a gap in the
tests or a change without consequences. A run takes a few minutes per mutation.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "estime_metric"
MUTATED = (
    f"{PACKAGE}/engine",
    f"{PACKAGE}/measures.py",
    f"{PACKAGE}/scorer.py",
    f"{PACKAGE}/integrations/states.py",
)
TESTS = (
    *(
        f"tests/test_{name}.py"
        for name in ("measures", "result", "scorer", "word_unit", "appendices")
    ),
    "tests/engine",
    "tests/integrations/test_torchmetrics_states.py",
)

#: Each operator and what replaces it.
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutation:
    """One change of one file.

    Attributes:
        path: the file, from the root of the clone.
        line: its line, from 1.
        before, after: the changed expression.
        text: the whole file before the change.
        number: of the expression in the file.
    """

    path: Path
    line: int
    before: str
    after: str
    text: str
    number: int

    @property
    def source(self) -> str:
        """The whole file after the change."""
        tree = ast.parse(self.text)
        _change(_places(tree)[self.number])
        return ast.unparse(tree)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  ->  {self.after}"


def mutations(path: Path, text: str) -> Iterator[Mutation]:
    """All mutations of a file; annotations, decorators, texts and messages of errors are not changed."""
    for number, node in enumerate(_places(ast.parse(text))):
        changed = copy.deepcopy(node)
        _change(changed)
        yield Mutation(path, node.lineno, ast.unparse(node), ast.unparse(changed), text, number)


def _places(tree: ast.AST) -> list[ast.expr]:
    """The expressions that can be changed, in the order of the file."""
    places: list[ast.expr] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.Raise, ast.JoinedStr)):
            return
        if isinstance(node, ast.expr) and _is_changeable(node):
            places.append(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child)

    visit(tree)
    return places


def _is_changeable(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (bool, int, float))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in OPERATORS
    return isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OPERATORS


def _change(node: ast.expr) -> None:
    if isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.UnaryOp):  # bool(...) in place of not ...
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Compare):
        node.ops[0] = OPERATORS[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.BoolOp)):
        node.op = OPERATORS[type(node.op)]()


def all_mutations(root: Path = ROOT) -> list[Mutation]:
    """All mutations of the files of ``MUTATED``."""
    candidates = []
    for name in MUTATED:
        place = root / name
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            candidates += mutations(file.relative_to(root), file.read_text(encoding="utf-8"))
    return candidates


def copy_of_clone(folder: Path, root: Path = ROOT) -> None:
    """Copies what the tests need; the weights of the bundled encoders are linked."""
    weights = root / PACKAGE / "embedded"
    for name in (PACKAGE, "tests"):
        shutil.copytree(
            root / name,
            folder / name,
            ignore=lambda place, names: {
                "__pycache__",
                *(["embedded"] if Path(place) == weights.parent else []),
            },
        )
    (folder / PACKAGE / "embedded").symlink_to(weights)
    for name in ("docs", "hub_space", "experiments", "pyproject.toml", "README.md"):
        (folder / name).symlink_to(root / name)
    if (root.parent / "shared").exists():
        (folder.parent / "shared").symlink_to(root.parent / "shared")


def failing_test(folder: Path, seconds: float) -> str | None:
    """The first test that fails in a copy, or what else went wrong; ``None`` if all pass."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
    ]
    try:
        run = subprocess.run(
            [*pytest, *TESTS],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return f"no end within {seconds:g} seconds"
    if run.returncode == 0:
        return None
    failures = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return next(iter(failures), f"pytest ended with {run.returncode}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; the status is 1 if the tests fail without a mutation."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=25, help="mutations to draw (default: 25)")
    parser.add_argument("--seed", type=int, default=0, help="of the lot (default: 0)")
    parser.add_argument(
        "--seconds", type=float, default=600, help="limit for the tests of one mutation"
    )
    parser.add_argument("--list", action="store_true", help="print the mutations that are drawn")
    options = parser.parse_args(arguments)
    candidates = all_mutations()
    drawn = random.Random(options.seed).sample(candidates, options.number)
    print(f"{options.number} of {len(candidates)} mutations, seed {options.seed}", flush=True)
    if options.list:
        print(*drawn, sep="\n")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "clone"
        folder.mkdir()
        copy_of_clone(folder)
        if failure := failing_test(folder, options.seconds):
            print(f"The tests fail without a mutation: {failure}")
            return 1
        survivors = []
        for mutation in drawn:
            file = folder / mutation.path
            original = file.read_text(encoding="utf-8")
            file.write_text(mutation.source, encoding="utf-8")
            failure = failing_test(folder, options.seconds)
            file.write_text(original, encoding="utf-8")
            survivors += [mutation] if failure is None else []
            print(f"{'survived' if failure is None else 'killed'}  {mutation}", flush=True)
            print(f"          {failure or ''}".rstrip(), flush=True)
    print(f"killed {options.number - len(survivors)} of {options.number}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
