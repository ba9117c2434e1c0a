"""Which tests ``-m "not slow"`` leaves out: those of ``slow.txt``, and all but two families of encoders.

``python -m pytest --record-slow 0.5`` runs all tests and writes anew which ones took longer than that many seconds, the
slowest first. Several processes begin with their files, so that none is left alone with them at the end.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.families import FAMILIES

LIST = Path(__file__).with_name("slow.txt")

#: Encoders that every run tries; the others go the same ways through the engine.
ALWAYS = ("bert", "roberta")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-slow", type=float, metavar="SECONDS", help=f"write {LIST.name}: tests above SECONDS")


def pytest_configure(config: pytest.Config) -> None:
    if (seconds := config.getoption("--record-slow")) is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(seconds))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = dict.fromkeys(LIST.read_text(encoding="utf-8").split())  # in their order
    if hasattr(config, "workerinput"):
        files = list(dict.fromkeys(name.split("::")[0] for name in slow))
        rank = {file: number for number, file in enumerate(files)}
        items.sort(key=lambda item: rank.get(item.nodeid.split("::")[0], len(rank)))
    others = set(FAMILIES) - set(ALWAYS)
    for item in items:
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if _function(item.nodeid) in slow or any(isinstance(one, str) and one in others for one in parameters):
            item.add_marker(pytest.mark.slow)


class Recorder:
    """Adds up the time of each test function and writes the slow ones."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.took: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took[_function(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        slow = [name for name, took in self.took.most_common() if took > self.seconds]
        LIST.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")


def _function(nodeid: str) -> str:
    """A test's name without its parameters."""
    return nodeid.split("[")[0].replace(" ", "_")
