"""Files and encoders of a visitor's own, in a real browser."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer
from tests.demo.conftest import HOSTILE, ROWS, SOURCE, SUMMARY, Opener, alarms, choose, expected_soon, fill

expect = expected_soon()


@pytest.mark.slow
def test_an_encoder_is_loaded_by_a_typed_name(page: Any, bert_folder: str, tmp_path: Path) -> None:
    copy = shutil.copytree(bert_folder, tmp_path / "mine")
    page.locator("#model input").fill(str(copy))
    page.locator("#model input").press("Enter")
    expect(page.locator("#explained .estime-signature")).to_have_text(EstimeScorer(model=str(copy)).signature)
    page.locator("#model input").fill("/no/such/<b>encoder</b>")
    page.locator("#model input").press("Enter")
    expect(page.get_by_text("The encoder /no/such/<b>encoder</b> cannot be loaded here")).to_be_visible()
    expect(page.locator("#model input")).to_have_value(str(copy))


@pytest.mark.slow
def test_a_file_is_uploaded_and_its_scores_downloaded(page: Any, scorer: EstimeScorer, tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "article", "summary"])
        hit = "<img src=x onerror='window.hit=1'>"
        writer.writerows([hit, row["source"], row["summary"]] for row in ROWS)
        writer.writerows([["x", HOSTILE, HOSTILE], ["no summary", HOSTILE]])
    page.get_by_role("tab", name="Score a file").click()
    page.locator("#file input[type=file]").set_input_files(table)
    expect(page.locator("#file")).to_contain_text("pairs")
    page.locator("#score").click()
    refused = "Expected a column 'source' in pairs.csv, but its columns are id, article, summary"
    expect(page.locator("#scored .demo-notice")).to_contain_text(refused)
    page.locator("#source-column input, #source-column textarea").fill("article")
    page.locator("#score").click()
    expect(page.locator("#scored tbody tr")).to_have_count(9)
    expect(page.locator("#scored .demo-verdict")).to_contain_text("9 of 10 rows scored, 1 skipped.")
    expect(page.locator("#scored")).to_contain_text("line 11: column 'summary' should hold a text, but holds nothing")
    with page.expect_download() as waiting:
        page.locator("#download").click()
    waiting.value.save_as(tmp_path / "scores.csv")
    assert waiting.value.suggested_filename == "scores.csv"
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    texts = [(row["summary"], row["source"]) for row in ROWS] + [(HOSTILE, HOSTILE)]
    result = scorer.score([summary for summary, _ in texts], [source for _, source in texts])
    for measure in ("alarms", "overlap", "tokens"):
        assert [float(row[measure]) for row in rows] == result.values(measure).tolist()
    assert [float(row["alarm_rate"]) for row in rows] == pytest.approx(result.values("alarm_rate").tolist(), abs=1e-6)
    assert {row["signature"] for row in rows} == {scorer.signature}
    assert page.evaluate("window.hit") is None


@pytest.mark.slow
def test_an_encoder_is_chosen_and_one_that_cannot_be_loaded_gets_a_message(page: Any, bert_folder: str) -> None:
    choose(page, "#model", Path(bert_folder).name)
    other = EstimeScorer(model=bert_folder)
    expect(page.locator("#explained .estime-signature")).to_have_text(other.signature)
    assert alarms(page) == other.explain(ROWS[3]["summary"], ROWS[3]["source"]).alarms
    blocks = other.encoder.info.blocks
    expect(page.locator("#layer input[type=range]")).to_have_attribute("max", str(blocks))
    number = page.locator("#layer input[type=number]")
    number.fill("1")
    number.press("Tab")
    expect(page.locator("#explained .estime-signature")).to_contain_text("|layers:1|")
    choose(page, "#model", re.compile("bert-large-uncased-whole-word-masking"))
    expect(page.get_by_text("cannot be loaded here")).to_be_visible()
    expect(page.locator("#model input")).to_have_value(Path(bert_folder).name)
    expect(page.locator("#explained .estime-signature")).to_contain_text("|layers:1|")


@pytest.mark.slow
def test_an_explanation_does_not_wait_for_a_file(opened: Opener, tmp_path: Path) -> None:
    table = tmp_path / "long.jsonl"
    rows = [{**row, "source": f"{number} {row['source']}"} for number in range(40) for row in ROWS]
    table.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    scoring, explaining = opened(), opened()
    scoring.get_by_role("tab", name="Score a file").click()
    scoring.locator("#file input[type=file]").set_input_files(table)
    expect(scoring.locator("#file")).to_contain_text("long")
    scoring.locator("#score").click()
    expect(scoring.locator("#scored progress")).to_be_visible()
    fill(explaining, SOURCE, SUMMARY)
    expect(explaining.locator("#explained .estime-summary .estime-text")).to_have_text(SUMMARY)
    expect(scoring.locator("#scored progress")).to_be_visible()  # the file is still under way
    scoring.locator("#stop").click()
    expect(scoring.locator("#scored .demo-notice")).to_have_text("Stopped.")
