"""What a visitor gets, without a browser: encoders, limits of a request, explanations, scores of
files.
"""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from estime_metric import EstimeScorer, files
from estime_metric.comparison import compare_results, sentences
from estime_metric.config import PAPER_MODEL
from estime_metric.demo.encoders import CHOICES, Encoders, Setting
from estime_metric.demo.handlers import Handlers
from estime_metric.demo.limits import Limits, RefusedError
from tests.command import write_jsonl

SETTING = Setting("embedded-small", unit="token", layer=5)
SOURCE = "The cat sat on the mat while the dog slept."
PAIRS = [
    {"source": SOURCE, "summary": summary, "id": number}
    for number, summary in enumerate(
        ["The dog sat.", "", "The cat slept on the dog.", "Nothing of it"]
    )
]
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> The cat & the \"dog\" 'sat'."


@pytest.fixture(scope="module")
def handlers() -> Handlers:
    return Handlers(Encoders(["embedded-small"]))


def test_empty_texts(handlers: Handlers) -> None:
    for source, summary, message in (
        ("", " \n", "Paste a source and its summary"),
        (SOURCE, "", "The summary is empty"),
        (" ", "The cat.", "Paste a source and its summary"),
    ):
        assert message in handlers.explain(SETTING, source, summary)
    assert "and two summaries" in handlers.compare(SETTING, SOURCE, "The cat.", "")


def test_two_summaries_get_the_sentence_of_compare(handlers: Handlers) -> None:
    good, bad = "The cat sat on the mat.", "The dog sat on the cat while the mat slept."
    scorer = EstimeScorer(model="embedded-small")
    results = [scorer.score([summary], [SOURCE]) for summary in (good, bad)]
    sentence = sentences(compare_results(*results), "A", "B")[0]
    assert "A has lower inconsistency than B (" in sentence
    drawn = handlers.compare(SETTING, SOURCE, good, bad)
    assert sentence[1:] in drawn
    assert ("Summary A" in drawn, "Summary B" in drawn) == (True, True)


def test_a_failure_is_told_without_the_text_and_logged_without_it(
    handlers: Handlers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("zebrafinch in a message")

    with caplog.at_level(logging.DEBUG):
        assert "the lone surrogate" in handlers.explain(SETTING, SOURCE, "zebrafinch \ud800")
        monkeypatch.setattr(handlers.encoders, "explain", fail)
        drawn = handlers.explain(SETTING, SOURCE, "zebrafinch")
    assert "Something went wrong (RuntimeError)" in drawn
    assert "zebrafinch" not in drawn + caplog.text
    assert [
        record.getMessage() for record in caplog.records if record.name.startswith("estime_metric")
    ] == [
        "a request failed with ValueError",
        "a request failed with RuntimeError",
    ]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_file_is_scored_and_written(handlers: Handlers, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"mine.{ending}"
    if ending == "csv":
        path.write_text(
            f'source,summary,line\n{SOURCE},"<b>The cat</b>",<i>7</i>\n{SOURCE}\n', encoding="utf-8"
        )
    else:
        write_jsonl(
            path,
            [
                {"source": SOURCE, "summary": "<b>The cat</b>", "line": "<i>7</i>"},
                {"source": SOURCE},
            ],
        )
    *_, last = handlers.score_file(SETTING, str(path), "source", "summary", tmp_path)
    drawn, scores, pairs = last
    assert pairs == [(SOURCE, "<b>The cat</b>")]
    assert scores == tmp_path / f"scores.{ending}"
    for text in (
        "1 of 2 rows scored, 1 skipped",
        "Mean inconsistency",
        "coverage",
        "&lt;b&gt;The cat",
    ):
        assert text in drawn
    assert "<i>7" not in drawn
    assert "line 2: " in drawn
    text = scores.read_text(encoding="utf-8")
    assert "<i>7</i>" in text
    assert "estime_line" in text  # the file has a column of that name
    assert EstimeScorer(model="embedded-small").signature in text


def test_files_that_cannot_be_scored_get_a_message_and_low_coverage_is_said(
    handlers: Handlers, tmp_path: Path
) -> None:
    path = tmp_path / "p.jsonl"

    def last(path: Path | None, **limits: float) -> str:
        visited = limited(**limits) if limits else handlers
        *_, (drawn, scores, _) = visited.score_file(
            SETTING, path and str(path), "source", "summary", tmp_path
        )
        assert (scores is None) == ("Mean" not in drawn)
        return drawn

    assert "Choose a file first" in last(None)
    assert "Something went wrong (FileNotFoundError)" in last(tmp_path / "gone.csv")
    write_jsonl(path, [{"<b>source</b>": "x"}])
    assert ("&lt;b&gt;source" in last(path), "<b>source" in last(path)) == (True, False)
    for summary, low in (("Zebras wander through Morocco.", True), ("The cat slept.", False)):
        write_jsonl(path, [{"source": SOURCE, "summary": summary}])
        assert ("Coverage is low" in last(path)) == low
    assert "The time for one file is over: 0 of 1 rows scored" in last(path, max_seconds=0)
    assert "<code>estime score</code> has no such limit" in last(path, max_pairs=0)


# Files


def limited(**limits: float) -> Handlers:
    return Handlers(Encoders(["embedded-small"], Limits(**limits)))  # type: ignore[arg-type]


def test_the_scores_are_those_of_the_scorer_row_by_row(tmp_path: Path, handlers: Handlers) -> None:
    pairs = handlers.read(write_jsonl(tmp_path / "p.jsonl", PAIRS), " source ", "")
    steps = [(len(progress.rows), progress.done) for progress in handlers.score(pairs, SETTING)]
    assert steps == [(1, False), (2, False), (3, False), (4, False), (4, True)]
    *_, last = handlers.score(pairs, SETTING)
    result = EstimeScorer(model="embedded-small").score(pairs.summaries, pairs.sources)
    rows = files.score_rows(pairs, result.columns(), result.signature)
    for row, expected, pair, values in zip(last.rows, rows, last.scored, result, strict=True):
        assert row == pytest.approx(expected, abs=1e-5)
        assert pair.values == pytest.approx(values, nan_ok=True, abs=1e-5)
        assert (pair.line, pair.summary) == (row["line"], pairs.summaries[row["line"] - 1])
    assert (last.rows_in_file, last.problems, last.late) == (4, [], False)


def test_a_text_that_cannot_be_scored_is_a_problem_of_its_row(tmp_path: Path) -> None:
    handlers = limited(max_summary_chars=30, max_tokens=12)
    rows = [
        *PAIRS[:1],
        {**PAIRS[0], "summary": "x" * 31},
        {**PAIRS[0], "source": "a " * 13},
        {"source": "x"},
    ]
    rows += [{**PAIRS[0], "summary": "half \ud800"}, *PAIRS[2:3]]
    pairs = handlers.read(write_jsonl(tmp_path / "p.jsonl", rows), "source", "summary")
    *_, last = handlers.score(pairs, SETTING)
    assert [pair.line for pair in last.scored] == [1, 6]
    assert last.rows_in_file == 6
    assert [problem.split(",")[0][:40] for problem in sorted(last.problems)] == [
        "line 2: The summary has 31 characters; t",
        "line 3: The source has 13 tokens; with e",
        "line 4: column 'summary' is missing (col",
        "line 5: column 'summary' contains a lone",
    ]


def test_files_over_the_limits_are_refused(tmp_path: Path, handlers: Handlers) -> None:
    path = write_jsonl(tmp_path / "p.jsonl", PAIRS)
    with pytest.raises(RefusedError, match="The file has more than 3 rows, the most for this page"):
        limited(max_pairs=3).read(path, "source", "summary")
    with pytest.raises(
        RefusedError, match=r"The file has 0.0 MB; the limit of this page is 0.0001 MB"
    ):
        limited(max_file_bytes=100).read(path, "source", "summary")
    message = (
        r"The file has no column `a`; its columns are source, summary, id\. .*“Source column”\.$"
    )
    with pytest.raises(RefusedError, match=message):
        handlers.read(path, "a", "b")
    with pytest.raises(RefusedError, match=r"no column `b`; .* in the box “Summary column”\.$"):
        handlers.read(path, "source", "b")
    with pytest.raises(RefusedError, match=r"^There is no pair in the file\.$"):
        handlers.read(write_jsonl(tmp_path / "empty.jsonl", []), "source", "summary")
    for name in ("p.txt", "p.parquet", "p.json", "p.jsonl.gz"):  # not as large as they seem
        with pytest.raises(RefusedError, match=r"reads files that end in \.jsonl, \.csv, \.tsv\."):
            handlers.read(tmp_path / name, "source", "summary")


# Encoders and limits


@pytest.fixture(scope="module")
def encoders(bert_folder: str) -> Encoders:
    return Encoders(["embedded-small", bert_folder, "embedded-small", "no-such/encoder"])


def test_each_is_on_offer_once_and_a_folder_goes_by_its_last_part(
    encoders: Encoders, bert_folder: str
) -> None:
    assert CHOICES[:2] == ("embedded", "embedded-small")
    assert ("bert-large-uncased-whole-word-masking (the paper's)", PAPER_MODEL) in Encoders().labels
    assert encoders.names == ("embedded-small", bert_folder, "no-such/encoder")
    labels = [label for label, _ in encoders.labels]
    assert labels == ["embedded-small (small, in the package)", "bert", "no-such/encoder"]


def test_what_is_not_on_offer_or_cannot_be_loaded_is_refused(
    encoders: Encoders, bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RefusedError, match="not available on this page"):
        encoders.info(f"{bert_folder}/.")
    with pytest.raises(ValueError, match="`unit`"):
        encoders.explain(["x"], "x", Setting("embedded-small", unit="line"))
    with pytest.raises(ValueError, match=r"`layers` to be within 0\.\.6"):
        encoders.explain(["x"], "x", Setting("embedded-small", layer=7))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        RefusedError,
        match="The encoder no-such/encoder cannot be loaded: it is not in the local cache",
    ):
        encoders.info("no-such/encoder")


def test_any_encoder_may_be_named_where_the_host_allows_it(bert_folder: str) -> None:
    encoders = Encoders(["embedded-small"], any_name=True)
    assert encoders.info(bert_folder).name == bert_folder
    assert [name for _, name in encoders.labels] == ["embedded-small"]
    for name in ("", " "):
        with pytest.raises(RefusedError, match="not available on this page"):
            encoders.info(name)


def test_texts_up_to_the_limit_pass_and_longer_ones_are_refused_by_name(bert_folder: str) -> None:
    encoders = Encoders([bert_folder], Limits(max_tokens=10))
    setting = Setting(bert_folder, layer=1)
    assert len(encoders.explain(["a cat"], "a " * 10, setting)) == 1
    for summary, source, message in (
        ("a cat", "a " * 11, r"source has 11 tokens; with bert the limit of this page is 10\."),
        ("a " * 12, "a", "The summary has 12 tokens"),
        (
            "a " * 2500 + "a",
            "a",
            r"summary has 5,001 characters; the limit of this page is 5,000\.",
        ),
        ("a", "a" * 20_001, "The source has 20,001 characters"),
    ):
        with pytest.raises(ValueError, match=message):
            encoders.explain(["a cat", summary], source, setting)
