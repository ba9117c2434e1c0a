"""Which single changes of the engine its tests do not notice.

    python -m experiments.mutants --number 25 --seed 0

Draws mutations by lot over the engine and the formulas of the measures: a comparison, an operator, a
number, a condition or an argument is changed, one at a time, in a copy of the package. The tests of the
engine run on each copy until one fails, beginning with the files that import the changed module. Prints
every mutation with its verdict; a survivor is a gap in the tests or a change without consequences.

The lot depends on the texts of the mutations, so that an edit elsewhere leaves it as it is, and a longer
lot contains a shorter one. A killed mutation takes seconds, a survivor a few minutes.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import importlib
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "estime_metric"
MUTATED = (
    f"{PACKAGE}/engine",
    f"{PACKAGE}/measures.py",
    f"{PACKAGE}/novelty.py",
    f"{PACKAGE}/scorer.py",
    f"{PACKAGE}/integrations/states.py",
)
TESTS = (
    *(
        f"tests/test_{name}.py"
        for name in (
            *("measures", "novelty", "result", "scorer", "scorer_use", "explanation"),
            *("word_unit", "appendices"),
        )
    ),
    "tests/engine",
    "tests/integrations/test_torchmetrics_states.py",
    "tests/jobs/test_datasets.py",  # `EstimeScorer.map_batch`
)

#: What the tests import and takes long, none of it from the package.
PRELOADED = (
    "torch",
    "transformers.models.bert",
    "transformers.generation",
    "scipy.stats",
    "pandas",
)

PYTEST = (
    *("-q", "-x", "-m", "not slow", "-p", "no:cacheprovider"),
    # of what was imported before pytest
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
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
        scope: the class and function it is in, empty at the top of the file.
        before, after: the whole expression that contains the change.
        ordinal: among the mutations of the scope that read the same.
        line: of the file, from 1.
        text: the whole file before the change.
        number: of the changed place in the file.
    """

    path: Path
    scope: str
    before: str
    after: str
    ordinal: int
    line: int
    text: str
    number: int

    @property
    def source(self) -> str:
        """The whole file after the change."""
        tree = ast.parse(self.text)
        _change(_places(tree)[self.number].node)
        return ast.unparse(tree)

    def rank(self, seed: int) -> bytes:
        """What the lot is ordered by; it does not change with the rest of the file."""
        identity = (seed, self.path.as_posix(), self.scope, self.before, self.after, self.ordinal)
        return hashlib.sha256(repr(identity).encode()).digest()

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.scope}: {self.before}  ->  {self.after}"


class _Place(NamedTuple):
    """An expression that can be changed.

    Attributes:
        scope: the class and function it is in.
        whole: the expression that contains it and is not part of another one.
        node: the expression itself.
    """

    scope: str
    whole: ast.expr
    node: ast.expr


def mutations(path: Path, text: str) -> Iterator[Mutation]:
    """All mutations of a file; annotations, decorators, texts and messages of errors are not changed."""
    alike: Counter[tuple[str, str, str]] = Counter()
    for number, (scope, whole, node) in enumerate(_places(ast.parse(text))):
        changed = copy.deepcopy(whole)
        _change(list(ast.walk(changed))[list(ast.walk(whole)).index(node)])
        key = scope, ast.unparse(whole), ast.unparse(changed)
        yield Mutation(path, *key, alike[key], node.lineno, text, number)
        alike[key] += 1


def _places(tree: ast.AST) -> list[_Place]:
    """The expressions that can be changed, in the order of the file."""
    places: list[_Place] = []

    def visit(node: ast.AST, scope: str, whole: ast.expr | None) -> None:
        if isinstance(node, (ast.Raise, ast.JoinedStr)):
            return
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            scope = f"{scope}.{node.name}".lstrip(".")
        if isinstance(node, ast.expr):
            whole = whole or node
            if _is_changeable(node):
                places.append(_Place(scope, whole, node))
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child, scope, whole)

    visit(tree, "", None)
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


def draw(candidates: Sequence[Mutation], number: int, seed: int) -> list[Mutation]:
    """The given number of mutations, at random."""
    return sorted(candidates, key=lambda mutation: mutation.rank(seed))[:number]


def nearest_first(path: Path) -> list[str]:
    """The module at ``path`` for its examples, and all files of ``TESTS``: first the one named after
    it, then those that import it.
    """
    module = ".".join(path.with_suffix("").parts)
    places = [ROOT / name for name in TESTS]
    files = [
        file
        for place in places
        for file in (sorted(place.rglob("test_*.py")) if place.is_dir() else [place])
    ]
    files.sort(key=lambda file: module not in file.read_text(encoding="utf-8"))
    files.sort(key=lambda file: file.stem != f"test_{path.stem}")
    return [str(path), *(str(file.relative_to(ROOT)) for file in files)]


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


def failing_test(folder: Path, tests: Sequence[str], seconds: int) -> str | None:
    """The first of some tests that fails in a copy, or what else went wrong; ``None`` if all pass.

    They run in a fork of this process, which has imported `PRELOADED`.
    """
    output = folder.parent / "output"
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        _run(folder, tests, output)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 0:
        return None
    if status == -signal.SIGALRM:
        return f"no end within {seconds} seconds"
    lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    failures = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return next(iter(failures), f"pytest ended with {status}")


def _run(folder: Path, tests: Sequence[str], output: Path) -> NoReturn:
    """Runs some tests in a copy and ends the process with pytest's status."""
    status = 1
    try:
        with output.open("wb") as file:
            for stream in (sys.stdout, sys.stderr):
                os.dup2(file.fileno(), stream.fileno())
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder)
        sys.path.insert(0, str(folder))
        status = pytest.main([*PYTEST, *tests])
    finally:
        sys.stdout.flush()
        os._exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; the status is 1 if the tests fail without a mutation."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=25, help="mutations to draw (default: 25)")
    parser.add_argument("--seed", type=int, default=0, help="of the lot (default: 0)")
    parser.add_argument(
        "--seconds", type=int, default=600, help="limit for the tests of one mutation"
    )
    parser.add_argument("--list", action="store_true", help="print the mutations that are drawn")
    options = parser.parse_args(arguments)
    candidates = all_mutations()
    drawn = draw(candidates, options.number, options.seed)
    print(f"{options.number} of {len(candidates)} mutations, seed {options.seed}", flush=True)
    if options.list:
        print(*drawn, sep="\n")
        return 0
    # Bytecode of two changes within a second would look alike; threads do not survive a fork.
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    sys.dont_write_bytecode = True
    for name in PRELOADED:
        importlib.import_module(name)
    scratch = Path(tempfile.mkdtemp())
    try:
        survivors = _survivors(drawn, scratch / "clone", options.seconds)
    finally:
        shutil.rmtree(scratch)
    if survivors is None:
        return 1
    print(f"killed {options.number - len(survivors)} of {options.number}")
    return 0


def _survivors(drawn: Sequence[Mutation], folder: Path, seconds: int) -> list[Mutation] | None:
    """The mutations that no test notices, printed one by one; ``None`` if the tests fail without one."""
    folder.mkdir()
    copy_of_clone(folder)
    if failure := failing_test(folder, TESTS, seconds):
        print(f"The tests fail without a mutation: {failure}")
        return None
    survivors = []
    for mutation in drawn:
        file = folder / mutation.path
        original = file.read_text(encoding="utf-8")
        file.write_text(mutation.source, encoding="utf-8")
        failure = failing_test(folder, nearest_first(mutation.path), seconds)
        file.write_text(original, encoding="utf-8")
        survivors += [mutation] if failure is None else []
        print(f"{'survived' if failure is None else 'killed'}  {mutation}", flush=True)
        print(f"          {failure or ''}".rstrip(), flush=True)
    return survivors


if __name__ == "__main__":
    sys.exit(main())
