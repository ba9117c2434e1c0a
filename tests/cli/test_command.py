"""What all commands have in common: help, names of options, exit status, one line for an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cyclopts import App

from estime_metric import __version__
from estime_metric.cli import app, console, score
from estime_metric.cli.options import MeasureOptions
from estime_metric.config import EstimeConfig
from tests.command import run_command, run_python


def commands(parent: App = app, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for name in (name for name in parent if not name.startswith("-")):
        found += commands(parent[name], (*path, name)) or [(*path, name)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_has_help_and_long_names(command: tuple[str, ...]) -> None:
    help_text = run_command(*command, "--help").stdout
    assert f"Usage: estime {' '.join(command)}" in help_text
    assert "Exit status" in help_text
    assert run_command(*command, "-h").stdout == help_text
    _, apps, _ = app.parse_commands(command)
    for option in apps[-1].assemble_argument_collection():
        names = [name for name in option.names if name.startswith("-")]
        assert not names or any(name.startswith("--") for name in names), names


def test_options_of_the_measure_are_those_of_the_configuration() -> None:
    given = MeasureOptions(
        model="embedded", layers="3,5", measures="soft, coherence", tagger="nltk", drop_tags="DT,IN", normalize=True
    ).given()
    assert EstimeConfig(**given) == EstimeConfig(
        model="embedded", layers=(3, 5), measures=("soft", "coherence"), tagger="nltk",
        drop_tags=frozenset({"DT", "IN"}), normalize=True,
    )  # fmt: skip
    assert MeasureOptions().given() == {}
    assert EstimeConfig(**MeasureOptions(fast=True, distance=4).given()) == EstimeConfig.fast(distance=4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "--nope"], "--nope"),
        (["score", "x.jsonl", "--layers", "a"], "--layers"),
        (["nope"], "nope"),
        (["corrupt", "x.jsonl"], "--output"),
        (["score", "--example", "--device", "cuda:99"], ""),
        (["score", "nothing.jsonl"], "nothing.jsonl"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(arguments: list[str], message: str) -> None:
    ran = run_command(*arguments, status=2)
    assert ran.stdout == ""
    assert ran.stderr.startswith("error: ")
    assert ran.stderr.count("\n") == 1
    assert message in ran.stderr


#: command, options beside those that work, what is said
REFUSED = [
    ("score", "--layers 9", "`layers` to lie within 0..4"),
    ("score", "--unit sentence", "`unit` to be one of token, word, but got 'sentence'"),
    ("score", "-o scores.xlsx", "to end in .jsonl or .csv or .parquet"),
    ("score", "--source-column text", "Expected a column 'text' in pairs.jsonl, but its columns are id, source"),
    ("score", "--summary-column text", "name the right one with --summary-column."),
    ("score", "-m nobody/nothing", 'model="embedded"'),
    ("score", "--threshold high", "`threshold` to be a number or 'balanced', but got 'high'"),
    ("explain", "-o x.docx", "to end in .html or .png or .svg or .pdf or .jsonl, but got 'x.docx'"),
    ("explain", "-o no/where/x.html", "folder to exist"),
    ("explain", "-o x.png", "one pair for a plot, but got 3: choose it with --row"),
    ("explain", "--row 1", "line 1: is not JSON"),
    ("explain", "--row 7", "--row to be the line of a pair, but got 7 of 3 pairs, the last on line 4"),
    ("explain", "--source-column text", "Expected a column 'text' in pairs.jsonl"),
    ("corrupt", "--order random", "`order` to be one of sequential, clean"),
    ("corrupt", "--window 511", "`window` to be at most 510"),
    ("corrupt", "--summary-column text", "Expected a column 'text' in pairs.jsonl"),
    ("corrupt", "-m no/such/folder", 'model="embedded"'),
    ("corrupt", "-o out.txt", "to end in .jsonl or .csv"),
    *(("corrupt", f"--errors {errors}", "Expected --errors to be") for errors in ("0", "1,x", "-1")),
    ("coherence", "--measures grammar", "`measures` to name some of entity_graph, classifier, bartscore, length, rand"),
    ("coherence", "--measures classifier", "`classifier` to name a trained classifier, since the measure 'classifier'"),
    ("coherence", "--measures bartscore --source-column text", "There is no summary in"),
    ("coherence", "--summary-column text", "There is no summary in"),
    ("coherence", "-o out.xlsx", "Expected the output to end in"),
    ("compare", "--measures tokens", "`measures` to name some of alarms, inconsistency, alarm_rate"),
    ("compare", "--measures soft", "a column 'soft' in "),
    ("compare", "-n 0", "`n` to be at least 1"),
    ("compare", "-o out.xlsx", "to end in .jsonl or .csv"),
    ("meta-evaluate", "--measures soft --significance bootstrap", "two measures or more for --significance, but there"),
    ("meta-evaluate", "--lower rouge", "--lower and --higher to name measures (alarms, soft), but got 'rouge'"),
    ("meta-evaluate", "--system-column model", "'table.csv' to have a column of systems, but its columns are doc"),
    ("meta-evaluate", "--document-column a,b,c", "one or two names of columns, but got 'a,b,c'"),
    ("meta-evaluate", "--measures rouge", "to have a column 'rouge', but its columns are document, system, text, "),
    ("meta-evaluate", "--measures text", "column 'text' of `scores` to hold numbers, but got 'a' at (d0, s0)"),
    ("meta-evaluate", "--levels document", "`levels` to be one of summary, system, pairwise, intra_system, but got 'd"),
    ("meta-evaluate", "--methods tau", "`methods` to be one of"),
    ("meta-evaluate", "--resample rows", "`resample` to be one of documents, systems, both"),
    ("meta-evaluate", "--significance t-test", "`test` to be one of permutation, bootstrap, williams, but got 't-te"),
    ("meta-evaluate", "--significance williams --methods pearson", "`level` to be one of system, summary, but got 'pa"),
    ("meta-evaluate", "--significance williams", "`method` to be one of pearson, spearman, but got 'kendall_b'"),
    ("meta-evaluate", "-o table.xlsx", "to be a folder or to end in .csv, .md, .tex, but got 'table.xlsx'"),
    ("meta-evaluate", "-o t.csv --significance bootstrap", "a folder, since --significance makes a second table"),
    ("meta-evaluate", "-o no/such/folder/t.csv", "output's folder to exist"),
]


@pytest.mark.parametrize(("command", "options", "message"), REFUSED)
def test_what_cannot_be_done_is_said_in_one_line(
    command: str, options: str, message: str, bert_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    pairs, scored, out, table = (tmp_path / name for name in ("pairs.jsonl", "scored.jsonl", "out.jsonl", "table.csv"))
    rows = [{"id": number, "source": "The cat sat on the mat.", "summary": "The cat sat."} for number in range(3)]
    pairs.write_text("\n".join(["{bad", *map(json.dumps, rows)]))
    scored.write_text(json.dumps({"line": 1, "id": "a", "alarms": 1, "signature": "s"}))
    table.write_text("document,system,text,alarms,soft\nd0,s0,a,1,2\nd0,s1,b,3,1\nd1,s0,c,2,3\nd1,s1,d,4,4\n")
    working = {
        "score": [pairs, "-m", bert_folder, "-q"],
        "explain": [pairs, "-m", bert_folder, "--window", "60", "--margin", "10"],
        "corrupt": [pairs, "-m", bert_folder, "-q", "-o", out], "coherence": [pairs], "compare": [scored, scored],
        "meta-evaluate": [table, table, "-n", 5],
    }  # fmt: skip
    shown = run_command(command, *working[command], *options.split(), status=2)
    error = shown.stderr.splitlines()[-1]
    assert error.startswith("error: ")
    assert message in error
    assert "Traceback" not in shown.output
    assert not out.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("layer"), "KeyError: 'layer' (ESTIME_TRACEBACK=1 shows the traceback)"),
        (TypeError("no such argument"), "TypeError: no such argument (ESTIME_TRACEBACK=1 shows the traceback)"),
        (ValueError("Expected another"), "error: Expected another\n"),
        (MemoryError(), "out of memory"),
        (RuntimeError("could not create a primitive"), "try a smaller --token-budget"),
        (FloatingPointError("not finite"), "not finite"),
        (AssertionError("Torch not compiled with CUDA enabled"), "Torch not compiled with CUDA enabled"),
        (OSError(28, "No space left on device", "out.jsonl"), "No space left on device"),
    ],
)
def test_what_goes_wrong_inside_is_one_line(error: Exception, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.slow
def test_an_option_given_twice_takes_the_last_value() -> None:
    arguments = ["--with-signature", "-q", "-o", "-", "-m", "nobody/nothing", "-m", "embedded-small"]
    ran = run_command("score", "--example", *arguments)
    assert json.loads(ran.stdout.splitlines()[0])["signature"].startswith("ESTIME|model:embedded-small@")


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from estime_metric import cli; cli.console.run(cli.app, ['--help']); print(*sys.modules)"
    loaded = run_python(code).stdout.split()
    assert "meta-evaluate" in loaded
    assert not {"torch", "numpy", "pandas", "scipy", "transformers", "pyarrow", "matplotlib"} & set(loaded)


@pytest.mark.slow
def test_python_m_and_a_reader_that_leaves_early(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m estime_metric score --example -q -o - | head -n 1",
        shell=True, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(done.stdout)["line"] == 1
    assert "Traceback" not in done.stderr


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console.say("a\x1b]0;title\x07\n\tb\ud800")
    assert capsys.readouterr().out == "a\\x1b]0;title\\x07\n\tb\\xd800\n"


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(shell: str) -> None:
    script = app.generate_completion(shell=shell)  # type: ignore[arg-type]
    for word in ("score", "meta-evaluate", "source-column", "token-budget"):
        assert word in script


def test_the_version_and_docstrings_as_the_help() -> None:
    assert run_command("--version").stdout == f"estime-metric {__version__}\n"
    text = " ".join((score.score.__doc__ or "").split())
    assert text.split("Exit status")[0].strip() in " ".join(run_command("score", "--help").stdout.split())


def test_a_splitter_that_would_split_nothing_is_refused() -> None:
    for command in (["score", "--example"], ["explain", "--example"], ["benchmark", "summeval"]):
        shown = run_command(*command, "--splitter", "regex", status=2)
        assert "Expected --splitter with --unit word or --tagger" in shown.stderr
