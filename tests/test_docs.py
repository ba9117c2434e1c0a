"""Every code block of the documentation is run: as a doctest, here, by a separate test, or it says
why not. Links, commands and options exist.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import subprocess
from contextlib import nullcontext
from functools import cache
from itertools import groupby
from pathlib import Path
from unittest import mock

import pytest

import estime_metric
from docs import tables
from tests.command import run_command
from tests.engine.encoder.pretended_device import trained_there
from tests.pages import LANGUAGES, PAGES, ROOT, RUN_BY, anchor, blocks, name, script

#: File and anchor of a link to a place in the repository.
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)")
#: A line that is run in this process: settings of its environment, and the command.
_ESTIME = re.compile(r"(?P<settings>(?:[A-Z_]+=\S+ )*)estime (?P<arguments>.+)")
_COMMAND = re.compile(r"(?:^|`)(estime [a-z][^`\n]*)", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for file, place in _LINK.findall(text):
        target = page.parent / file if file else page
        assert target.exists(), file
        assert not place or place in anchors_of(target), f"{file}#{place}"
    for command in _COMMAND.findall(text.replace("\\\n", " ")):
        words = command.split()[1:]
        shown = help_of(words[0], words[1] if words[0] == "benchmark" and len(words) > 1 else "")
        for option in re.findall(r"(?<=\s)--[a-z-]+", command):
            assert f"{option} " in shown, command


@cache
def anchors_of(page: Path) -> set[str]:
    """The anchors of the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {*map(anchor, re.findall(r"^#+ (.+)$", text, re.MULTILINE))}


@cache
def help_of(command: str, benchmark: str) -> str:
    """What ``estime COMMAND --help`` prints on a wide screen."""
    words = (command, benchmark) if re.fullmatch(r"[a-z-]+", benchmark) else (command,)
    return run_command(*words, "--help", columns=400).stdout


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_is_not_run_here_says_where_or_why(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("\n```") + text.startswith("```") == 2 * len(blocks(page)), (
        "a code block is not closed"
    )
    assert (ROOT / RUN_BY.get(name(page), "")).exists()
    for block in blocks(page):
        if block.note and block.language in LANGUAGES:
            test = re.fullmatch(r"not run: .+|run by (\S+)", block.note)
            assert test, block.note
            assert (ROOT / (test[1] or "")).exists(), block.note


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # a page's toolkits warn of what is theirs
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("page", [page for page in PAGES if script(page)], ids=name)
def test_a_page_runs_in_an_empty_folder_and_prints_what_it_says(
    page: Path,
    device: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code = script(page)
    (tmp_path / "page.py").write_text(code, encoding="utf-8")  # its lines are in a traceback
    program = compile(code, tmp_path / "page.py", "exec")
    with trained_there(monkeypatch) if device == "cuda" else nullcontext():
        exec(program, {"__name__": "__main__", "sh": run_in_shell})
    printed = capsys.readouterr().out
    for output in re.findall(r"^ *print\(.*\)  # (.+)$", code, re.MULTILINE):
        assert re.search(re.escape(output).replace(r"\.\.\.", ".*"), printed), output


def run_in_shell(code: str) -> None:
    """Runs the lines of a block: those of ``estime`` in this process, which has its imports."""
    lines = code.replace("\\\n", " ").splitlines()
    for ours, some in groupby(lines, lambda line: _ESTIME.match(line) is not None):
        if ours:
            for match in filter(None, map(_ESTIME.match, some)):
                settings = dict(pair.split("=") for pair in match["settings"].split())
                with mock.patch.dict(os.environ, settings):
                    run_command(*shlex.split(match["arguments"], comments=True), columns=120)
        else:
            subprocess.run(["bash", "-euc", "\n".join(some)], check=True)


def test_the_tables_of_measures_are_current() -> None:
    text = tables.PAGE.read_text(encoding="utf-8")
    assert text == tables.generated(text), "run python docs/tables.py"


def test_the_table_of_options_is_current() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \|", page.split("<!-- options -->")[1], re.MULTILINE)
    fields = dataclasses.fields(estime_metric.EstimeConfig)
    defaults = [(field.name, repr(field.default).replace("'", '"')) for field in fields]
    assert rows == defaults


def test_the_reference_has_every_public_name() -> None:
    listed = (ROOT / "docs" / "site_hooks.py").read_text(encoding="utf-8")
    exports = estime_metric._LAZY_EXPORTS
    assert exports.keys() >= {*estime_metric.__all__} - {"__version__"}
    assert [name for name, module in exports.items() if f'"{module}.{name}"' not in listed] == []
