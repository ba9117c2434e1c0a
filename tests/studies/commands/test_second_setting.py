"""``--compare``: the options of a second setting are what its file contains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer
from estime_metric.studies.commands.benchmark.running import scorers_of
from tests.command import run_command, write_jsonl
from tests.families import SENTENCES


def settings(first: dict[str, Any], path: Path) -> tuple[EstimeScorer, str]:
    """The second scorer, and how it is called."""
    _, (name, scorer) = scorers_of(first, path).items()
    return scorer, name


@pytest.mark.parametrize(
    ("first", "written", "name"),
    [
        ({"dtype": "float32"}, {"distance": 4}, "distance 4"),
        ({"normalize": True}, {"normalize": True, "unit": "word"}, "unit word"),
        ({"unit": "word", "normalize": True}, {"unit": "token", "normalize": False}, None),
        ({"measures": "soft"}, {"measures": ["winners"]}, "measures winners"),
    ],
)
def test_a_json_file_replaces_what_it_contains_and_nothing_else(
    first: dict[str, Any],
    written: dict[str, Any],
    name: str | None,
    bert_folder: str,
    tmp_path: Path,
) -> None:
    """Also options that are the default."""
    path = tmp_path / "second.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    scorer, called = settings({"model": bert_folder, **first}, path)
    assert called == (name or "unit token, normalize no")
    for option, value in {**first, **written}.items():
        known = getattr(scorer.config, option)
        assert known == (tuple(value) if isinstance(value, list) else value)


def test_another_encoder_keeps_nothing_of_the_first_but_all_layers(
    bert_folder: str, tmp_path: Path
) -> None:
    path = tmp_path / "second.json"
    path.write_text(json.dumps({"model": "embedded-small"}), encoding="utf-8")
    first = {"model": bert_folder, "layers": "all", "distance": 8, "unit": "word"}
    scorer, name = settings(first, path)
    assert (scorer.config.layers, scorer.config.distance) == ("all", None)
    assert (scorer.config.unit, name) == ("word", "model embedded-small")


def test_of_a_record_everything_counts(bert_folder: str, tmp_path: Path) -> None:
    """A scored file with its record next to it; nothing comes from the first setting."""
    pairs = [{"source": " ".join(SENTENCES[:3]), "summary": SENTENCES[0]}]
    table, out = write_jsonl(tmp_path / "pairs.jsonl", pairs), tmp_path / "scored.jsonl"
    run_command("score", table, "-o", out, "-m", bert_folder, "-l", 2, "-q")
    first = {"model": bert_folder, "layers": (2,), "unit": "word", "normalize": True}
    scorer, name = settings(first, Path(f"{out}.meta.json"))
    assert (scorer.config.unit, scorer.config.normalize) == ("token", False)
    assert name == "unit token, normalize no"
    for lacking, called in (
        ({"min_tokens": 5}, "min_tokens no"),
        ({"drop_tags": {"DT"}, "tagger": "nltk"}, "drop_tags no, tagger no"),
        ({"soft_model": bert_folder, "token_budget": 512}, "soft_model no"),
    ):
        scorer, name = settings({"model": bert_folder, "layers": (2,), **lacking}, out)
        assert sorted(name.split(", ")) == called.split(", ")
        assert all(not getattr(scorer.config, option) for option in lacking)


def test_a_file_that_changes_nothing_is_refused(bert_folder: str, tmp_path: Path) -> None:
    path = tmp_path / "second.json"
    path.write_text('{"normalize": true}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"second\.json to change an option, but it changes none"):
        scorers_of({"model": bert_folder, "normalize": True}, path)
