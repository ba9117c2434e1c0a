"""The layers: imports point down only, each package has its modules, and importing has no side effects."""

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

#: module of the engine -> the other modules of the engine that it may import; each stands below those.
ENGINE = {
    "words": set(),
    "text": {"words"},
    "chunking": {"text"},
    "masking": {"text"},
    "batching": {"masking", "text"},
    "memory": set(),
    "ahead": set(),
    "budget": set(),
    "precision": set(),
    "int8": set(),
    "loading": {"batching", "int8", "memory"},
    "fused": set(),
    "blocks": {"fused"},
    "packed": set(),
    "encoder": {
        *("ahead", "batching", "blocks", "budget", "fused"),
        *("loading", "masking", "memory", "packed", "precision"),
    },
    "store": {"encoder", "loading", "memory"},
    "cache": {"chunking", "memory"},
    "matching": {"chunking", "memory"},
    "fragments": set(),
    "statistics": {"fragments", "matching", "memory"},
}

#: module or package below the integrations -> those that it may import.
LAYERS = {
    "_version": set(),
    "inputs": set(),
    "signature": set(),
    "measures": {"inputs"},
    "config": {"_version", "inputs", "measures", "signature"},
    "embedded": set(),
    "progress": set(),
    "engine": {"config", "embedded", "inputs", "measures"},
    "thresholds": set(),
    "result": {"config", "engine", "inputs", "measures", "thresholds"},
    "explanation": {"config", "engine", "inputs", "measures"},
    "scorer": {"config", "engine", "explanation", "inputs", "measures", "progress", "result"},
    "functional": {"config", "inputs", "result", "scorer"},
    "meta": {"files", "inputs"},
    "tables": {"files"},
    "files": set(),
    "jobs": {"_version", "config", "engine", "files", "measures", "result", "scorer", "thresholds"},
    "comparison": {"config", "files", "inputs", "measures", "meta", "scorer", "tables"},
}

#: nothing below them imports them; they may import all that is below.
TOP = {"explain", "integrations", "demo", "studies", "cli", "examples", "__main__"}

#: package of others -> the modules that may import it.
OWNERS = {
    "transformers": {"engine.loading", "studies"},
    "nltk": {"engine.words", "studies.shared.blanc"},
    "regex": {"engine.words"},
    "tqdm": {"progress", "studies", "cli"},
    "torchmetrics": {"integrations"},
    "lightning": {"integrations"},
    "evaluate": {"integrations"},
    "datasets": {"integrations", "studies", "cli"},
    "ray": {"integrations"},
    "gradio": {"demo"},
    "matplotlib": {"explain", "integrations", "meta", "studies"},
    "cyclopts": {"cli"},
    "rich": {"cli", "explain"},
}

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


def top(name: str) -> str:
    """The module or package right below ``estime_metric``."""
    return name.split(".")[0]


def test_there_is_something_to_check() -> None:
    names = {dotted(path) for path in MODULES}
    assert {"config", "engine.text", "engine.encoder", "scorer"} <= names
    found = {name for path in MODULES if dotted(path) == "scorer" for name in inner(path)}
    assert "engine.matching.match_chunk" in found


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_imports_point_down(path: Path) -> None:
    name = dotted(path)
    own = top(name)
    public = name == ""
    for target in inner(path):
        if public:
            assert top(target) == "_version", "the package itself imports nothing but its version"
        elif own in LAYERS and top(target) != own:
            assert top(target) in LAYERS[own], f"{name} may not import {target}"
        elif top(target) != own:
            assert own in TOP, f"{name} is a new module: say in this test what it may import"


@pytest.mark.parametrize("path", [path for path in MODULES if dotted(path).startswith("engine.")], ids=dotted)
def test_stages_of_the_engine(path: Path) -> None:
    name = dotted(path).split(".")[1]
    assert name in ENGINE, f"engine.{name} is a new module: say in this test what it may import"
    for target in inner(path):
        if top(target) == "engine":
            assert target.split(".")[1] in ENGINE[name], f"engine.{name} may not import {target}"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_each_package_is_imported_by_its_modules_alone(path: Path) -> None:
    name = dotted(path)
    for target in imported(path):
        owners = OWNERS.get(target.split(".")[0])
        if owners is not None:
            assert any(name == owner or name.startswith(f"{owner}.") for owner in owners), f"{name} imports {target}"


@pytest.mark.parametrize("path", [path for path in MODULES if dotted(path).startswith("embedded")], ids=dotted)
def test_nothing_runs_in_the_folder_of_the_embedded_encoder(path: Path) -> None:
    assert dotted(path) == "embedded"
    assert list(inner(path)) == []


def test_no_module_of_the_engine_imports_one_further_down_the_list() -> None:
    done: set[str] = set()
    for name, needed in ENGINE.items():
        assert needed <= done, f"engine.{name} stands above what it imports"
        done.add(name)


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
