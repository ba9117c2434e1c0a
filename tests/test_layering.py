"""The house: arrows between rooms point down only, and importing has no side effects."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import estime_metric

ROOT = Path(estime_metric.__file__).resolve().parent
NAME = "estime_metric"

#: room of the engine -> the other rooms of the engine that it may import.
ENGINE = {
    "text": {"words"},
    "words": set(),
    "masking": set(),
    "cache": set(),
    "matching": set(),
    "measures": set(),
    "blocks": {"last_block"},
    "last_block": set(),
    "batching": {"masking", "text"},
    "loading": {"batching"},
    "packed": set(),
    "encoder": {"batching", "blocks", "loading", "masking", "packed"},
}

#: room above the engine -> the rooms that it may import. What is not listed may import anything below the fronts.
HALLS = {
    "_version": set(),
    "config": {"_version"},
    "inputs": set(),
    "embedded": set(),
    "engine": {"config", "embedded"},
    "result": {"config", "engine", "inputs"},
    "explanation": {"config", "engine", "inputs"},
    "pairs": {"config", "engine"},
    "scorer": {"config", "engine", "explanation", "inputs", "pairs", "result"},
    "functional": {"config", "inputs", "result", "scorer"},
    "meta": set(),
    "files": set(),
    "jobs": {"config", "files", "result", "scorer"},
    "comparison": {"config", "files", "meta", "scorer"},
}

#: fronts: nothing below them imports them.
FRONTS = {"explain", "integrations", "demo", "studies", "cli", "examples", "__main__"}

#: package -> the rooms that may import it.
OWNERS = {
    "transformers": {"engine.loading", "studies"},
    "nltk": {"engine.words", "studies.blanc"},
    "torchmetrics": {"integrations"},
    "lightning": {"integrations"},
    "evaluate": {"integrations"},
    "datasets": {"integrations", "studies", "cli"},
    "gradio": {"demo"},
    "matplotlib": {"explain", "integrations", "meta", "studies"},
    "cyclopts": {"cli"},
    "rich": {"cli", "explain"},
}

#: scripts that made the embedded encoder: run by hand, never imported.
SCRIPTS = "embedded."

MODULES = sorted(path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts)


def dotted(path: Path) -> str:
    """A module's name below the package: ``engine.text``; the package itself is the empty name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported(path: Path) -> Iterator[str]:
    """All names that a module imports, in full, wherever the statement stands; those for type checking are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def inner(path: Path) -> Iterator[str]:
    """What a module imports of this package, below the package."""
    for name in imported(path):
        if name.startswith(f"{NAME}."):
            yield name.removeprefix(f"{NAME}.")


def hall(name: str) -> str:
    return name.split(".")[0]


def test_there_is_something_to_check() -> None:
    names = {dotted(path) for path in MODULES}
    assert {"config", "engine.text", "engine.encoder", "scorer"} <= names
    found = {name for path in MODULES if dotted(path) == "scorer" for name in inner(path)}
    assert "engine.matching.match" in found


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_arrows_point_down(path: Path) -> None:
    name = dotted(path)
    if name.startswith(SCRIPTS):
        return
    own = hall(name)
    public = name == ""
    for target in inner(path):
        if public:
            assert hall(target) == "_version", "the package itself imports nothing but its version"
        elif own in HALLS and hall(target) != own:
            assert hall(target) in HALLS[own], f"{name} may not import {target}"
        elif hall(target) != own:
            assert own in FRONTS, f"{name} is a new room: give it its arrows in this test"


@pytest.mark.parametrize("path", [path for path in MODULES if dotted(path).startswith("engine.")], ids=dotted)
def test_rooms_of_the_engine(path: Path) -> None:
    name = dotted(path).split(".")[1]
    assert name in ENGINE, f"engine.{name} is a new room: give it its arrows in this test"
    for target in inner(path):
        if hall(target) == "engine":
            assert target.split(".")[1] in ENGINE[name], f"engine.{name} may not import {target}"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_each_package_has_its_room(path: Path) -> None:
    name = dotted(path)
    if name.startswith(SCRIPTS):
        return
    for target in imported(path):
        owners = OWNERS.get(target.split(".")[0])
        if owners is not None:
            assert any(name == owner or name.startswith(f"{owner}.") for owner in owners), f"{name} imports {target}"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_the_scripts_behind_the_embedded_encoder_are_not_imported(path: Path) -> None:
    if not dotted(path).startswith("embedded"):
        assert not [
            target for target in inner(path) if target.startswith("embedded.") and target.split(".")[1].islower()
        ]


def test_the_package_knows_no_tests() -> None:
    for path in MODULES:
        assert not [name for name in imported(path) if name.split(".")[0] in ("tests", "pytest", "hypothesis")]


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_importing_is_light_and_has_no_side_effects() -> None:
    out = run("""
        import logging, os, sys, warnings
        levels = {name: logging.getLogger(name).level for name in ("", "transformers", "torch")}
        handlers, environment, filters = list(logging.root.handlers), dict(os.environ), list(warnings.filters)
        import estime_metric
        dir(estime_metric), estime_metric.__version__, estime_metric.EstimeConfig
        heavy = {"torch", "transformers", "numpy", "pandas", "tqdm", "cyclopts"} & set(sys.modules)
        assert not heavy, heavy
        assert levels == {name: logging.getLogger(name).level for name in levels}
        assert handlers == logging.root.handlers
        assert environment == dict(os.environ)
        assert filters == warnings.filters
    """)
    assert out == ""


def test_every_public_name_is_there() -> None:
    out = run("""
        import estime_metric
        for name in estime_metric.__all__:
            assert getattr(estime_metric, name) is not None, name
        assert set(estime_metric.__all__) <= set(dir(estime_metric))
        try:
            estime_metric.no_such_name
        except AttributeError as error:
            print(error)
    """)
    assert out == "module 'estime_metric' has no attribute 'no_such_name'\n"
