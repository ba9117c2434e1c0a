"""What all commands have in common: help, names of options, exit status, one line for an error."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import tomllib
from email.message import Message
from pathlib import Path

import pytest
import yaml
from cyclopts import App

from estime_metric import __version__, cli
from estime_metric.cli import app, console, score
from estime_metric.cli.options import ScoringOptions
from tests.command import SHORT, run_command, run_python
from tests.studies.conftest import DATA

ROOT = Path(__file__).resolve().parents[2]


def commands(parent: App = app, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The words of every command."""
    names = [name for name in parent if not name.startswith("-")]
    return [
        command
        for name in names
        for command in commands(parent[name], (*path, name)) or [(*path, name)]
    ]


def options_of(command: tuple[str, ...]) -> list[set[str]]:
    """The names of each option of a command, and of each argument none."""
    _, apps, _ = app.parse_commands(command)
    arguments = apps[-1].assemble_argument_collection(default_parameter=app.default_parameter)
    return [{name for name in option.names if name.startswith("-")} for option in arguments]


def assert_example_is_valid(command: tuple[str, ...], help_text: str) -> None:
    """The help shows one example, of this command and of options that it has."""
    (example,) = re.findall(r"^Example: estime (.+\n(?:\S.*\n)?)", help_text, re.MULTILINE)
    tokens = shlex.split(example.split(">>")[0])
    assert tuple(tokens[: len(command)]) == command
    function, _, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
    assert function.__name__.replace("_", "-") == command[-1]


@pytest.mark.slow
@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_has_help_and_long_names(command: tuple[str, ...]) -> None:
    help_text = run_command(*command, "--help").stdout
    assert f"Usage: estime {' '.join(command)}" in help_text
    assert re.search(r"Exit status: .*2 on\s+failure", help_text, re.DOTALL)
    assert_example_is_valid(command, help_text)
    assert run_command(*command, "-h").stdout == help_text
    for names in options_of(command):
        assert not names or any(name.startswith("--") for name in names), names


def test_every_command_that_scores_has_the_same_options_of_the_metric() -> None:
    """Only which measures are computed differs: `explain` and the benchmarks do not choose them."""
    shared = {f"--{field.name.replace('_', '-')}" for field in dataclasses.fields(ScoringOptions)}
    assert {"--model", "--distance", "--layers", "--config"} < shared
    options = {command: set().union(*options_of(command)) for command in commands()}
    scoring = {command for command, names in options.items() if "--distance" in names}
    assert {("score",), ("explain",), ("benchmark", "summeval")} <= scoring
    for command in scoring:
        assert shared <= options[command], command
        assert not {"--window", "--tagger", "--soft-model", "--token-budget"} & options[command]
    assert not shared & options["compare",]  # it scores as the scored files were
    assert all("--measures" in options[name,] for name in ("score", "compare"))


#: command, options in addition to those that work (an option given twice takes the last value), what is
#: said: one refusal of each kind
REFUSED = [
    ("nope", "", "nope"),
    ("score", "--config pairs.jsonl", "to contain a JSON object of options, or the record of"),
    ("score", "--fast", "error: Unknown option: --fast. Did you mean --distance?"),
    ("score", "--layers a", "--layers"),
    ("score --example", "x.jsonl", "Expected either files or --example, but got both"),
    ("score nothing*.jsonl", "-m embedded-small", "No such file or directory: 'nothing*.jsonl'"),
    (
        "score",
        "-o nowhere/x.jsonl",
        "Expected the output's folder to exist, but there is no 'nowhere'",
    ),
    ("score", "-m no/such -o /proc/x.jsonl", "No such file or directory: '/proc/x.jsonl"),
    ("score", "-o scores.xlsx", "to end in .jsonl or .csv or .parquet"),
    (
        "score",
        "--threshold 3",
        "Expected --threshold to be from 0 to 1, as values of inconsistency",
    ),
    (
        "score",
        "--resume --overwrite -o out.jsonl",
        "Expected --resume or --overwrite, but got both",
    ),
    ("score", "--worst 2 -o -", "Expected -o - or one of --json and --worst, but got both"),
    ("score", "--worst 1 -l 1,2", "to be one layer with --worst, but got 1, 2."),
    ("score", "--threshold 0 -l 1,2", "to be one layer with --threshold, but got 1, 2."),
    ("score -s pairs.jsonl -i x", "", "pairs.jsonl is a table by its name. Pass a table without"),
    ("score -s x -i x --delimiter ;", "", "Expected --delimiter with tables, but got it with text"),
    ("explain --summary x", "", "Expected exactly one of a file"),
    ("explain --summary x --source y", "--row 1", "one of --worst, --row and --summary"),
    ("explain", "--row 1", "line 1: is not JSON"),
    ("explain", "--row 7", "the line of a pair, but got 7 of 3 pairs, the last on line 4"),
    ("explain", "--layers 1,2", "Expected --layers to be one layer, but got 1, 2."),
    ("corrupt x.jsonl", "", "--output"),
    ("corrupt", "-m embedded", "such as 'embedded-small', but 'embedded' has none"),
    ("corrupt", "--seed -1", 'Invalid value "-1" for --seed. Must be >= 0.'),
    (
        "coherence",
        "--measures classifier",
        "Expected --classifier to name a trained classifier, since the measure 'classifier'",
    ),
    (
        "meta-evaluate",
        "--measures soft --significance bootstrap",
        "two measures or more for --significance, but there",
    ),
    (
        "meta-evaluate",
        "--lower rouge",
        "--lower and --higher to name measures (alarms, soft), but got 'rouge'",
    ),
    (
        "meta-evaluate",
        "--significance williams --methods pearson",
        "to be one of system, summary, but got 'pairwise'",
    ),
    ("benchmark summeval", "--resume", "Expected --output with --resume"),
]


@pytest.mark.parametrize(("command", "options", "message"), REFUSED)
def test_what_cannot_be_done_is_said_in_one_line(
    command: str,
    options: str,
    message: str,
    bert_folder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    row = json.dumps({"id": 1, "source": "The cat sat on the mat.", "summary": "The cat sat."})
    Path("pairs.jsonl").write_text("\n".join(["{bad", row, row, row]))
    Path("table.csv").write_text(
        "document,system,text,alarms,soft\nd0,s0,a,1,2\nd0,s1,b,3,1\nd1,s0,c,2,3\nd1,s1,d,4,4\n"
    )
    encoder = ["-m", bert_folder]
    working = {
        "score": ["pairs.jsonl", "-q", *encoder],
        "coherence": ["pairs.jsonl"],
        "explain": ["pairs.jsonl", *SHORT, *encoder],
        "corrupt": ["pairs.jsonl", "-q", "-o", "out.jsonl", *encoder],
        "meta-evaluate": ["table.csv", "table.csv", "-n", "5"],
        "benchmark summeval": ["--data", DATA / "summeval", "-q", *encoder],
    }.get(command, [])
    shown = run_command(*command.split(), *working, *options.split(), status=2)
    *before, error = shown.stderr.splitlines()
    assert all(line.startswith("skipped line ") for line in before)
    assert error.startswith("error: ")
    assert message in error
    assert shown.stdout == ""
    assert not Path("out.jsonl").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("layer"), "KeyError: 'layer' (ESTIME_TRACEBACK=1 shows the traceback)"),
        (ValueError("Expected another"), "error: Expected another\n"),
        (MemoryError(), "out of memory"),
        (RuntimeError("could not create a primitive"), "try a smaller `token_budget` in --config"),
        (AssertionError("Torch not compiled with CUDA enabled"), "not compiled with CUDA enabled"),
        (OSError(28, "No space left on device", "out.jsonl"), "No space left on device"),
    ],
)
def test_what_goes_wrong_inside_is_one_line(
    error: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("estime_metric.scorer.EstimeScorer.__init__", fail)
    ran = run_command("score", "--example", status=2)
    assert ran.stderr.startswith("error: ")
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1
    monkeypatch.setenv(console.TRACEBACK, "1")
    with pytest.raises(type(error)):
        run_command("score", "--example")


#: What no command may import at its top: libraries that take long, and packages that need these.
HEAVY = (
    *("torch", "numpy", "pandas", "scipy", "transformers", "pyarrow", "matplotlib", "regex"),
    *("estime_metric.compare", "estime_metric.wording", "estime_metric.engine"),
)


@pytest.mark.parametrize(
    "call", ["cli.main(['--help'])", "print(cli.app.generate_completion(shell='zsh'))"]
)
def test_help_and_completion_show_every_command_and_load_nothing_heavy(call: str) -> None:
    code = f"""
        import sys
        from estime_metric import cli
        try:
            {call}
        finally:
            print(*sys.modules)
    """
    shown, loaded = run_python(code).stdout.rsplit("\n", 2)[:2]
    assert all(path[0] in shown for path in commands())
    assert "Score summaries against their sources" in shown
    assert not set(HEAVY) & set(loaded.split())


def test_help_shows_commands_in_the_order_of_use() -> None:
    shown = re.findall(r"^│ ([a-z][a-z-]+)  ", run_command("--help").stdout, re.MULTILINE)
    assert shown[:4] == ["score", "explain", "compare", "calibrate"]
    assert set(shown) == {path[0] for path in commands()}


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console.say("a\x1b]0;title\x07\n\tb\ud800")
    assert capsys.readouterr().out == "a\\x1b]0;title\\x07\n\tb\\xd800\n"


def test_the_version_is_printed_without_importing_a_command() -> None:
    code = """
        import sys
        from estime_metric import cli
        try:
            cli.main(["--version"])
        finally:
            print(*(name for name in sys.modules if name.startswith(("estime_metric.cli.", "rich_rst"))))
    """
    version, loaded = run_python(code).stdout.splitlines()
    assert version == f"estime-metric {__version__}"
    assert loaded.split() == ["estime_metric.cli.console"]


def test_estime_alone_says_how_to_begin() -> None:
    shown = run_command().stdout.splitlines()
    assert shown[2].startswith("estime --help ")
    for line in shown[:2]:
        command = line.split("  ")[0].split()[1:]
        function, _, _ = app.parse_args(command, exit_on_error=False, print_error=False)
        assert function is score.score


def test_the_citations_are_those_of_the_repository() -> None:
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    cited = content["preferred-citation"]
    shown = re.sub(r"[{}]", "", run_command("cite").stdout)
    authors = [f"{author['family-names']}, {author['given-names']}" for author in cited["authors"]]
    for line in (
        f'title = "{cited["title"]}",',
        f'author = "{" and ".join(authors)}",',
        f'booktitle = "{cited["collection-title"]}",',
        f'year = "{cited["year"]}",',
        f'author = "{content["authors"][0]["name"]}",',
        f'version = "{__version__}",',
    ):
        assert f"    {line}\n" in shown


def test_the_help_has_the_address_that_a_release_has(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    released = Message()
    for name, address in {**urls, "Documentation": "https://example.org/docs"}.items():
        released["Project-URL"] = f"{name}, {address}"
    monkeypatch.setattr(cli, "metadata", lambda _: released)
    assert cli._manual() == "Manual: https://example.org/docs\n\n"
    assert not any("USER" in address for address in urls.values())


@pytest.mark.parametrize("command", ["score a.csv", "explain a.csv", "compare a.csv b.csv"])
def test_a_single_row_of_csv_is_said_to_be_read_as_the_header(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("Anna bought a boat.,Anna bought one.\n")
    monkeypatch.chdir(tmp_path)
    shown = run_command(*command.split(), status=2)
    assert shown.stderr.endswith(" (the first row is read as the header).\n")
