"""Single changes of the package that its tests do not notice.

    python -m experiments.mutants estime_metric/engine tests/engine --number 30 --seed 0

Changes one operator, number or condition at a time, chosen by a hash of its text, in a copy of the clone, and runs the
tests until one fails. Prints the survivors: each is a gap in the tests or a change without consequences.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cyclopts import App

ROOT = Path(__file__).parents[1]
SWAPS = [
    *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.FloorDiv, ast.Mult), (ast.Lt, ast.LtE)),
    *((ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)),
    (ast.And, ast.Or),
]
#: Operator -> its replacement.
OTHER = {new: old for old, new in SWAPS} | dict(SWAPS)

app = App(name="python -m experiments.mutants", help=__doc__, result_action="return_value")


def mutations(text: str) -> Iterator[tuple[str, str]]:
    """A line that describes each change of a module, and the changed module. Messages of errors are not changed."""
    tree = ast.parse(text)
    kept = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        before = dict(vars(node))
        if id(node) in kept or not isinstance(node, ast.expr):
            continue
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            node.value = not node.value if isinstance(node.value, bool) else node.value + 1
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
            node.ops = [OTHER[type(node.ops[0])](), *node.ops[1:]]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OTHER:
            node.op = OTHER[type(node.op)]()
        else:
            continue
        after, changed = ast.unparse(node), ast.unparse(tree)
        vars(node).update(before)
        yield f"{node.lineno}: {ast.unparse(node)}  ->  {after}", changed


@app.default
def main(module: Path, *tests: str, number: int = 30, seed: int = 0) -> None:
    """Print the changes that survive.

    Args:
        module: A module of the package, or a folder of modules.
        tests: Files and folders of tests, as for pytest.
        number: How many changes are tried.
        seed: Another seed, other changes.
    """
    files = [file for file in ROOT.rglob("*.py") if file.is_relative_to(ROOT / module)]
    candidates = [
        (file.relative_to(ROOT), line, changed)
        for file in files
        for line, changed in mutations(file.read_text("utf-8"))
    ]
    candidates.sort(  # without line numbers, so that an edit elsewhere changes no choice
        key=lambda item: hashlib.sha256(
            f"{seed} {item[0]} {item[1].partition(':')[2]}".encode()
        ).digest()
    )
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch, "clone")
        shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        Path(scratch, "shared").symlink_to(ROOT.parent / "shared")
        options = ["-qx", "-m", "not slow", "-p", "no:cacheprovider"]
        environment = {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1"}

        def fails() -> bool:
            command = ["timeout", "900", sys.executable, "-m", "pytest", *options, *tests]
            run = subprocess.run(command, cwd=clone, env=environment, capture_output=True)
            return run.returncode != 0

        if fails():
            sys.exit("The tests fail without a change.")
        tried = candidates[:number]
        survivors = 0
        for file, line, changed in tried:
            (clone / file).write_text(changed, "utf-8")
            if not fails():
                survivors += 1
                print(f"{file}:{line}", flush=True)
            shutil.copy(ROOT / file, clone / file)
    print(f"{survivors} of {len(tried)} survive ({len(candidates)} changes, seed {seed})")


if __name__ == "__main__":
    app()
