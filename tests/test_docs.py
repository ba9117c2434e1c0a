"""Every code block of the documentation is run: as a doctest, here, by a separate test, or it says
why not.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from estime_metric import embedded
from tests.command import run_command, write_jsonl

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "hub_space" / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)

#: page or folder -> the test that runs its blocks
RUN_BY = {
    "docs/evaluate.md": "tests/integrations/evaluate/test_docs.py",
    "docs/harnesses": "tests/integrations/harnesses",
}

#: languages that are run; in others there is output, data or a citation
LANGUAGES = ("bash", "py", "python", "sh", "shell")

_BLOCK = re.compile(
    r"(?:^<!-- (?P<note>.+?) -->\n+)?^```(?P<language>\w*).*?\n(?P<code>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A code block, and what the comment above it says of it."""

    page: str
    line: int
    language: str
    code: str
    note: str

    @property
    def runs_here(self) -> bool:
        elsewhere = any(self.page == page or self.page.startswith(f"{page}/") for page in RUN_BY)
        return (
            self.language in LANGUAGES
            and ">>>" not in self.code
            and not self.note
            and not elsewhere
        )


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            name(page),
            text.count("\n", 0, one.start("code")),
            one["language"],
            one["code"],
            one["note"] or "",
        )
        for one in _BLOCK.finditer(text)
    ]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_is_not_run_here_says_where_or_why(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("\n```") + text.startswith("```") == 2 * len(blocks(page)), (
        "a code block is not closed"
    )
    for block in blocks(page):
        if block.note and block.language in LANGUAGES:
            kind, _, rest = block.note.partition(
                ": " if block.note.startswith("not run") else " by "
            )
            assert kind in ("not run", "run"), f"line {block.line}: {block.note}"
            assert rest
            assert kind == "not run" or (ROOT / rest).exists(), (
                f"line {block.line}: there is no {rest}"
            )


@pytest.mark.parametrize(("page", "test"), RUN_BY.items())
def test_pages_that_are_run_elsewhere_are_named_there(page: str, test: str) -> None:
    assert (ROOT / page).exists()
    tests = [ROOT / test] if (ROOT / test).is_file() else sorted((ROOT / test).rglob("*.py"))
    assert any(Path(page).name in file.read_text(encoding="utf-8") for file in tests)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(one.runs_here for one in blocks(page))], ids=name
)
def test_what_runs_here(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(embedded.PATHS, "embedded", embedded.SMALL)  # no number of it is shown
    write_samples(tmp_path)
    scope: dict[str, object] = {"__name__": "page"}
    for block in [block for block in blocks(page) if block.runs_here]:
        if block.language in ("python", "py"):
            code = "\n" * block.line + block.code  # so that an error names the line of the page
            exec(compile(code, str(page), "exec"), scope)
            continue
        for line in block.code.replace("\\\n", " ").splitlines():
            if words := shlex.split(line, comments=True):
                assert words[0] == "estime", (
                    f"line {block.line}: say above the block what runs {words[0]}"
                )
                run_command(*words[1:], columns=120)


def write_samples(folder: Path) -> None:
    """The files that the pages name: pairs, two systems, scores and judgements."""
    sources = [
        "Anna bought the red boat. Peter sold the old house. The mayor opened the bridge on Monday.",
        "The council closed the school on Friday. The dog slept in the garden. The cat sat on the mat.",
        "Engineers had found rust in four of its twelve main beams. Repairs will take eighteen months.",
    ]
    good = [
        "Anna bought the red boat.",
        "The council closed the school.",
        "Repairs will take eighteen months.",
    ]
    bad = [
        "Peter bought the red boat.",
        "The dog sat on the mat.",
        "Engineers found rust in twelve of its four beams.",
    ]
    for file, summaries in (("pairs", good), ("clean", good), ("a", good), ("b", bad), ("c", good)):
        rows = (
            {"id": number, "source": source, "summary": summary}
            for number, (source, summary) in enumerate(zip(sources, summaries, strict=True))
        )
        write_jsonl(folder / f"{file}.jsonl", rows)
    for file, columns in (
        ("scores", ("alarms", "rouge")),
        ("judgements", ("consistency", "fluency")),
    ):
        lines = [",".join(("document", "system", *columns))]
        for document in range(4):
            for system in range(3):
                cells = (document * 3 + system * 5, document * 2 + system * 4)
                lines.append(
                    ",".join(map(str, (document, f"s{system}", *(cell % 7 for cell in cells))))
                )
        (folder / f"{file}.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
