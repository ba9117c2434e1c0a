"""What a visitor gets, without a browser."""

from __future__ import annotations

import base64
import json
import logging
import re
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.demo.encoders import Encoders, Setting
from estime_metric.demo.handlers import Handlers, read_examples
from estime_metric.demo.limits import Limits
from estime_metric.explain.html import fragment

SETTING = Setting("embedded", "token", 5)
SOURCE = "The cat sat on the mat while the dog slept."
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> The cat & the \"dog\" 'sat'."


@pytest.fixture(scope="module")
def handlers() -> Handlers:
    return Handlers(Encoders(["embedded"]))


def test_an_explanation_is_the_fragment_of_it(handlers: Handlers) -> None:
    drawn = handlers.explain(SOURCE, "The dog sat on the cat.", SETTING)
    expected = EstimeScorer(model="embedded").explain("The dog sat on the cat.", SOURCE)
    assert fragment(expected, key="estime-explained").partition("<p class")[0] in drawn
    assert handlers.explain(SOURCE, "The dog sat on the cat.", SETTING) == drawn
    other = handlers.explain(SOURCE, "The dog sat on the mat.", SETTING)
    assert other.partition(">")[0] != drawn.partition(">")[0]  # so that the page takes it whole


@pytest.mark.parametrize("setting", [SETTING, Setting("embedded", "word", 1)])
def test_hostile_texts_stay_texts(handlers: Handlers, setting: Setting) -> None:
    drawn = handlers.explain(HOSTILE, HOSTILE, setting)
    assert "<script" not in drawn
    assert "<img" not in drawn
    assert "<script" not in "".join(handlers.compare(HOSTILE, HOSTILE, HOSTILE, setting))


def test_empty_texts(handlers: Handlers) -> None:
    assert "Paste a source and its summary" in handlers.explain("", " \n", SETTING)
    assert "The summary is empty" in handlers.explain(SOURCE, "", SETTING)
    assert "shares no token" in handlers.explain("", "The cat.", SETTING)
    assert handlers.compare(SOURCE, "The cat.", "", SETTING)[1:] == ("", "")


def test_two_summaries_are_compared(handlers: Handlers) -> None:
    good, bad = "The cat sat on the mat.", "The dog sat on the cat while the mat slept."
    verdict, first, second = handlers.compare(SOURCE, good, bad, SETTING)
    assert "<b>A</b> raises" in verdict
    assert "by this count A is the more consistent one" in verdict
    assert "Mind the lengths, 7 and 11 tokens" in verdict
    assert ("Summary A" in first, "Summary B" in second) == (True, True)
    assert "by this count B is the more" in handlers.compare(SOURCE, bad, good, SETTING)[0]
    assert "Both raise" in handlers.compare(SOURCE, good, good, SETTING)[0]
    assert "cannot be compared" in handlers.compare(SOURCE, good, "Xyzzy", SETTING)[0]


def test_the_picture_is_an_image_without_a_word_of_the_texts(handlers: Handlers) -> None:
    drawn = handlers.draw(HOSTILE, HOSTILE + " \U0001f600 \u05d7\u05ea\u05d5\u05dc $x_1$", SETTING)
    code = re.fullmatch(r'<img class="demo-picture" alt="[\w ]+" src="data:image/svg\+xml;base64,([\w+/=]+)">', drawn)
    assert code is not None
    image = base64.b64decode(code[1]).decode("utf-8")
    assert "<svg" in image
    assert "<script" not in image
    assert "Paste a source" in handlers.draw("", "", SETTING)


def test_a_failure_is_told_without_the_text_and_logged_without_it(
    handlers: Handlers, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("zebrafinch in a message")

    with caplog.at_level(logging.DEBUG):
        assert "the lone surrogate" in handlers.explain(SOURCE, "zebrafinch \ud800", SETTING)
        monkeypatch.setattr(handlers.encoders, "explain", fail)
        drawn = handlers.explain(SOURCE, "zebrafinch", SETTING)
    assert "Something went wrong here (RuntimeError)" in drawn
    assert "zebrafinch" not in drawn + caplog.text
    assert [record.getMessage() for record in caplog.records if record.name.startswith("estime_metric")] == [
        "a request failed with ValueError",
        "a request failed with RuntimeError",
    ]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_file_is_scored_and_written(handlers: Handlers, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"mine.{ending}"
    if ending == "csv":
        path.write_text(f'source,summary,line\n{SOURCE},"<b>The cat</b>",<i>7</i>\n{SOURCE}\n', encoding="utf-8")
    else:
        rows = [{"source": SOURCE, "summary": "<b>The cat</b>", "line": "<i>7</i>"}, {"source": SOURCE}]
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    *_, (drawn, scores) = handlers.score_file(str(path), "source", "summary", SETTING, tmp_path)
    assert scores == tmp_path / f"scores.{ending}"
    assert "1 of 2 pairs" not in drawn  # the second row is none
    assert "1 of 1 pairs scored" in drawn
    assert "&lt;b&gt;The cat" in drawn
    assert "<i>7" not in drawn
    assert ("line 3: " if ending == "csv" else "line 2: ") in drawn
    text = scores.read_text(encoding="utf-8")
    assert "<i>7</i>" in text
    assert EstimeScorer(model="embedded").signature in text


def test_files_that_cannot_be_scored_get_a_message(handlers: Handlers, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"<b>source</b>": "x"}), encoding="utf-8")
    ((drawn, scores),) = handlers.score_file(str(path), "source", "summary", SETTING, tmp_path)
    assert ("&lt;b&gt;source" in drawn, "<b>source" in drawn, scores) == (True, False, None)
    ((drawn, _),) = handlers.score_file(None, "source", "summary", SETTING, tmp_path)
    assert "Choose a file first" in drawn
    ((drawn, _),) = handlers.score_file(str(tmp_path / "gone.csv"), "source", "summary", SETTING, tmp_path)
    assert "Something went wrong here (FileNotFoundError)" in drawn
    late = Handlers(Encoders(["embedded"], Limits(seconds=0)))
    path.write_text(json.dumps({"source": SOURCE, "summary": "The cat."}), encoding="utf-8")
    ((drawn, scores),) = late.score_file(str(path), "source", "summary", SETTING, tmp_path)
    assert "The time for one file is over: 0 of 1 pairs scored" in drawn
    assert scores is None


def test_the_examples_can_be_shown() -> None:
    examples = read_examples()
    assert len(examples) == 8
    assert all(others["verdict"] for others in examples.others)
