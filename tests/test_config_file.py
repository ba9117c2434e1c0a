"""Options from a file: those of the file, of its record, or of the call, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.cli.options import MeasureOptions
from estime_metric.config_file import combined, contained
from estime_metric.table.table import write
from tests.command import run_command, write_jsonl

SETTINGS = ["--distance", 4, "--measures", "soft"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{"source": "The cat sat on the mat.", "summary": "The cat sat."}]
    return write_jsonl(tmp_path_factory.mktemp("pairs") / "pairs.jsonl", rows)


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl.meta.json", "a.jsonl"])
def test_the_settings_of_a_scored_file(
    name: str, pairs: Path, bert_folder: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    further = tmp_path / "options.json"
    further.write_text('{"normalize": true, "token_budget": 900}')
    options = ["-m", bert_folder, "--device", "cpu", "-q", "--config", further, *SETTINGS]
    run_command("score", pairs, "-o", tmp_path / name.removesuffix(".meta.json"), *options)
    settings, is_record = contained(path)
    assert is_record
    scorer = EstimeScorer(model=bert_folder, distance=4, normalize=True, measures="soft")
    assert EstimeConfig(**settings) == scorer.resolved_config
    assert EstimeScorer(**settings).signature == scorer.signature
    assert combined(path, {"distance": 3})["distance"] == 3
    # What belongs to the encoder of the file is not asked of another one.
    other = EstimeConfig(**combined(path, {"model": "embedded"}))
    assert other == EstimeConfig(normalize=True, measures="soft")


def test_a_json_object_of_options(tmp_path: Path) -> None:
    """What it contains, defaults too, and nothing else; options of a call override it."""
    path = tmp_path / "options.json"
    options = {"unit": "word", "tagger": "nltk", "normalize": False, "distance": 4}
    path.write_text(json.dumps(options))
    assert contained(path) == (options, False)
    own = {"model": "paper", "unit": "token"}
    assert MeasureOptions(config=path, **own).settings() == {**options, **own}
    path.write_text("\ufeff{}", encoding="utf-8")
    assert contained(path) == ({}, False)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("[1]", ValueError, "options.json to contain a JSON object .* but it is a JSON list"),
        ('{"windows": 3}', TypeError, "options.json to contain valid options.*but got `windows`"),
        ('{"window": "3"}', TypeError, "options.json .*`window` to be an integer, but got '3'"),
        (
            '{"unit": "word", "splitter": "split"}',
            ValueError,
            "`splitter` in options.json .* function",
        ),
        ('{"tagger": "by_length"}', ValueError, "`tagger` in options.json to be one of nltk"),
    ],
)
def test_what_is_refused(
    content: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "options.json"
    path.write_text(content)
    with pytest.raises(error, match=message):
        contained(path)


def test_a_table_without_a_record_is_refused(pairs: Path, tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", [{"a": 1}])
    for path in (pairs, tmp_path / "a.parquet"):
        with pytest.raises(ValueError, match=rf"{path.name} to contain .*, but found neither"):
            contained(path)
    with pytest.raises(FileNotFoundError, match=r"none\.jsonl"):
        contained(tmp_path / "none.jsonl")


def test_a_folder_that_has_changed_since_is_refused(bert_folder: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(bert_folder, tmp_path / "copy"))
    config = EstimeScorer(model=str(folder)).resolved_config
    EstimeScorer(config).load()
    config_file = folder / "tokenizer_config.json"
    config_file.write_text(config_file.read_text() + "\n")
    with pytest.raises(ValueError, match=r"to have the revision sha256-.*files have changed"):
        EstimeScorer(config).load()
