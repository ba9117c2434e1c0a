"""Single changes of the package that its tests do not notice.

    python -m experiments.mutants estime_metric/wording/source.py tests/wording --number 30 --seed 1

Changes one operator, number or condition at a time, chosen by a hash of its text, in a copy of the current folder,
a clone, and runs the tests until one fails. Prints the survivors: each is a gap in the tests or a change without
consequences. Run it in two clones to compare their tests: code that is equal in both is changed alike.

With ``--cases`` it runs all tests, and prints which of them are enough to notice what all notice; a test outside
of these may be needed for another change, or state what a page promises.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from xml.etree import ElementTree

from cyclopts import App

ROOT = Path.cwd()
#: Operator -> what it becomes; the first of a comparison.
OTHER = {
    **{"Add": "Sub", "Sub": "Add", "Mult": "Div", "Div": "Mult", "FloorDiv": "Mult"},
    **{"Lt": "LtE", "LtE": "Lt", "Gt": "GtE", "GtE": "Gt", "Eq": "NotEq", "NotEq": "Eq"},
    **{"Is": "IsNot", "IsNot": "Is", "In": "NotIn", "NotIn": "In", "And": "Or", "Or": "And"},
}

app = App(name="python -m experiments.mutants", help=__doc__, result_action="return_value")


def expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """All expressions, except in messages of errors."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            yield node
        if not isinstance(node, ast.Raise):
            yield from expressions(node)


def other(node: ast.expr) -> dict[str, object]:
    """The attribute of an expression that is changed, with its new value."""
    match node:
        case ast.Constant(value=bool() as value):
            return {"value": not value}
        case ast.Constant(value=int() | float() as value):
            return {"value": value + 1}
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return {"operand": ast.UnaryOp(ast.Not(), operand)}
        case ast.Compare(ops=[operator, *others]) if name := OTHER.get(type(operator).__name__):
            return {"ops": [getattr(ast, name)(), *others]}
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if name := OTHER.get(type(op).__name__):
            return {"op": getattr(ast, name)()}
    return {}


def mutations(text: str) -> Iterator[tuple[str, str]]:
    """A line that describes each change of a module, and the changed module."""
    tree = ast.parse(text)
    for node in expressions(tree):
        before, was, new = dict(vars(node)), ast.unparse(node), other(node)
        if new:
            vars(node).update(new)
            line, changed = f"{node.lineno}: {was}  ->  {ast.unparse(node)}", ast.unparse(tree)
            vars(node).update(before)
            yield line, changed


def order(seed: int, file: Path, line: str) -> bytes:
    """The place of a change, by its text without the line's number: edits elsewhere change no choice."""
    return hashlib.sha256(f"{seed} {file} {line.partition(':')[2]}".encode()).digest()


def cover(noticing: Collection[set[str]]) -> list[str]:
    """A few tests of which at least one notices each change, as one of ``noticing`` does; chosen greedily."""
    chosen, left = [], [tests for tests in noticing if tests]
    while left:
        ((most, _),) = Counter(test for tests in left for test in sorted(tests)).most_common(1)
        chosen.append(most)
        left = [tests for tests in left if most not in tests]
    return chosen


def failed(report: Path) -> set[str]:
    """The tests that failed, by the file that pytest writes with ``--junit-xml``."""
    return {
        f"{case.get('classname')}::{case.get('name')}"
        for case in ElementTree.parse(report).iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    }


@app.default
def main(module: Path, *tests: str, number: int = 30, seed: int = 0, cases: bool = False) -> None:
    """Print the changes that survive.

    Args:
        module: A module of the package, or a folder of modules.
        tests: Files and folders of tests, as for pytest, whose options follow ``--``.
        number: How many changes are tried.
        seed: Another seed, other changes.
        cases: Run all tests for each change, and print those that are enough.
    """
    os.nice(10)
    files = [file.relative_to(ROOT) for file in sorted(ROOT.rglob("estime_metric/**/*.py"))]
    changes = [
        (file, line, changed)
        for file in files
        if file.is_relative_to(module)
        for line, changed in mutations((ROOT / file).read_text("utf-8"))
    ]
    changes.sort(key=lambda change: order(seed, *change[:2]))
    options = ["-q" if cases else "-qx", "-n", "0", "-p", "no:cacheprovider"]
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch, "clone")
        shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        Path(scratch, "shared").symlink_to(ROOT.parent / "shared")
        report = Path(scratch, "report.xml")
        options.append(f"--junit-xml={report}")
        environment = {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1"}

        def fails(limit: float) -> bool:
            command = ["timeout", f"{limit}", sys.executable, "-m", "pytest", *options, *tests]
            run = subprocess.run(command, cwd=clone, env=environment, capture_output=True)
            return run.returncode != 0

        start = time.monotonic()
        if fails(3600):
            sys.exit("The tests fail without a change.")
        limit = 60 + 3 * (time.monotonic() - start)  # a loop that does not end is noticed
        survivors, noticing = 0, []
        for file, line, changed in changes[:number]:
            (clone / file).write_text(changed, "utf-8")
            report.unlink(missing_ok=True)
            if not fails(limit):
                survivors += 1
                print(f"{file}:{line}", flush=True)
            elif report.exists():  # not if a loop did not end
                noticing.append(failed(report))
            shutil.copy(ROOT / file, clone / file)
    for test in cover(noticing) if cases else []:
        print(f"enough: {test}")
    print(f"{survivors} of {len(changes[:number])} survive ({len(changes)} changes, seed {seed})")


if __name__ == "__main__":
    app()
