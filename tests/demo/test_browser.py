"""The demo in a real browser, as its visitors meet it."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer
from tests.browser import CONTRASTS, STICKING_OUT
from tests.demo.conftest import DESK, HOSTILE, PHONE, ROWS, SOURCE, SUMMARY, Opener, alarms, choose, expected_soon, fill
from tests.demo.serving import Server

expect = expected_soon()


def lies_within(inner: dict[str, float], outer: dict[str, float]) -> bool:
    return all(
        outer[at] - 1 <= inner[at] and inner[at] + inner[size] <= outer[at] + outer[size] + 1
        for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.slow
def test_it_opens_with_an_example_explained_and_explains_ones_own_text(page: Any, scorer: EstimeScorer) -> None:
    assert page.title() == "ESTIME"
    summary, source = (page.locator(f"#{name} textarea").input_value() for name in ("summary", "source"))
    assert {"source": source, "summary": summary, "verdict": "unfaithful"}.items() <= ROWS[3].items()
    assert alarms(page) == scorer.explain(summary, source).alarms > 0
    expect(page.locator("#explained .estime-signature")).to_have_text(scorer.signature)
    page.get_by_text("How to read this").click()
    expect(page.get_by_text("Compare summaries by the inconsistency")).to_be_visible()
    fill(page, SOURCE, SUMMARY)
    expect(page.locator("#explained .estime-summary .estime-text")).to_have_text(SUMMARY)
    shown = scorer.explain(SUMMARY, SOURCE)
    assert alarms(page) == shown.alarms
    marked = page.locator("#explained .estime-unit.estime-alarm").all_inner_texts()
    assert marked == [SUMMARY[word.start : word.end] for word in shown.words if word.verdict == "alarm"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desktop", "phone"])
def test_an_alarm_is_clicked_and_its_evidence_shows(
    opened: Opener, scorer: EstimeScorer, size: tuple[int, int]
) -> None:
    page = opened(size)
    source, summary = ROWS[5]["source"] + " " + ROWS[1]["source"] + " " + ROWS[7]["source"], ROWS[7]["summary"]
    fill(page, source, summary)  # the evidence lies at the end of a long source, out of sight at first
    expect(page.locator("#explained .estime-summary .estime-text")).to_have_text(summary)
    found = [word for word in scorer.explain(summary, source).words if word.verdict == "alarm"]
    index, alarm = next((n, word) for n, word in enumerate(found) if word.best.start > len(source) - 500)
    clicked = page.locator("#explained .estime-alarm.estime-unit").nth(index)
    expect(clicked).to_have_text(summary[alarm.start : alarm.end])
    clicked.scroll_into_view_if_needed()
    clicked.click()
    evidence = page.locator("#explained .estime-source .estime-best")
    expect(evidence).to_have_text(source[alarm.best.start : alarm.best.end])
    page.wait_for_timeout(800)  # it is scrolled to
    pane = page.locator("#explained .estime-source .estime-text").bounding_box()
    assert lies_within(evidence.bounding_box(), pane)
    if size == PHONE:  # the source is docked to the lower edge
        assert page.locator("#explained .estime-source").bounding_box()["height"] < 300
        assert lies_within(pane, {"x": 0, "y": 0, "width": size[0], "height": size[1]})
    assert lies_within(evidence.bounding_box(), {"x": 0, "y": 0, "width": size[0], "height": size[1]})
    expect(page.locator("#explained .estime-note")).to_contain_text("is an alarm")


@pytest.mark.slow
def test_another_example_is_picked_and_drawn(page: Any, scorer: EstimeScorer) -> None:
    page.get_by_text("Plot of the matches").click()
    picture = page.locator("#drawn img")
    expect(picture).to_be_visible()
    before = picture.get_attribute("src")
    choose(page, "#example", re.compile(r"^faithful: Morgenrot"))
    expect(page.locator("#explained .estime-summary .estime-text")).to_have_text(ROWS[4]["summary"])
    assert alarms(page) == scorer.explain(ROWS[4]["summary"], ROWS[4]["source"]).alarms
    assert picture.get_attribute("src") != before
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 400
    assert picture.evaluate("image => getComputedStyle(image).filter") == "none"
    page.evaluate("document.body.classList.add('dark')")
    assert "invert" in picture.evaluate("image => getComputedStyle(image).filter")
    assert picture.evaluate("image => getComputedStyle(image).backgroundColor") == "rgba(0, 0, 0, 0)"


@pytest.mark.slow
def test_unit_and_layer_change_the_result_and_nothing_chosen_stays(page: Any) -> None:
    pair = ROWS[3]["summary"], ROWS[3]["source"]
    page.locator("#explained .estime-unit.estime-alarm").first.click()
    page.mouse.move(1, 1)
    expect(page.locator("#explained .estime-active")).to_have_count(1)
    page.locator("#unit").get_by_text("words").click()
    words = EstimeScorer(model="embedded-small", unit="word")
    expect(page.locator("#explained .estime-signature")).to_have_text(words.signature)
    assert alarms(page) == words.explain(*pair).alarms
    page.locator("#explained .estime-unit.estime-match").first.hover()
    page.mouse.move(1, 1)
    expect(page.locator("#explained .estime-active")).to_have_count(0)
    number = page.locator("#layer input[type=number]")
    number.fill("2")
    number.press("Tab")
    second = EstimeScorer(model="embedded-small", unit="word", layers=2)
    expect(page.locator("#explained .estime-signature")).to_have_text(second.signature)
    assert alarms(page) == second.explain(*pair).alarms != words.explain(*pair).alarms
    slider = page.locator("#layer input[type=range]")
    slider.focus()
    slider.press("ArrowRight")
    third = EstimeScorer(model="embedded-small", unit="word", layers=3)
    expect(page.locator("#explained .estime-signature")).to_have_text(third.signature)


@pytest.mark.slow
def test_hostile_texts_and_other_scripts_are_shown_and_do_nothing(page: Any) -> None:
    hebrew, emoji = (
        "\u05d4\u05d7\u05ea\u05d5\u05dc \u05d9\u05e9\u05df",
        "\U0001f469\u200d\U0001f680 \U0001f1e9\U0001f1f0",
    )
    source = f"{hebrew}. The cat {emoji} sleeps, cafe\u0301!"
    fill(page, source, source)
    text = page.locator("#explained .estime-summary .estime-text")
    expect(text).to_have_text(source)
    assert text.evaluate("element => element.textContent") == source
    assert text.evaluate("element => getComputedStyle(element).direction") == "rtl"
    fill(page, HOSTILE, HOSTILE)
    for side in ("summary", "source"):
        text = page.locator(f"#explained .estime-{side} .estime-text")
        expect(text).to_have_text(HOSTILE)
        assert text.evaluate("element => element.textContent") == HOSTILE
        assert text.locator("script, img, b").count() == 0
    page.locator("#explained .estime-unit").nth(3).hover()
    page.locator("#explained .estime-unit").nth(3).click()
    page.get_by_role("tab", name="Compare").click()
    for name in ("source", "a", "b"):
        page.locator(f"#compare-{name} textarea").fill(HOSTILE)
    page.locator("#compare").click()
    expect(page.locator("#compared .estime-summary .estime-text")).to_have_text([HOSTILE, HOSTILE])
    assert page.evaluate("window.hit") is None


@pytest.mark.slow
def test_too_long_and_empty_texts_get_a_message(page: Any) -> None:
    fill(page, "zebrafinch " * 2000, SUMMARY)
    notice = page.locator("#explained .demo-notice")
    expect(notice).to_contain_text("The source has 22,000 characters; this page takes up to 20,000.")
    fill(page, "a " * 4500, SUMMARY)
    shown = "The source has 4,500 tokens; with embedded-small (small, in the package) this page takes up to 4,000."
    expect(notice).to_contain_text(shown)
    fill(page, SOURCE, " ")
    expect(page.locator("#explained .estime-remark")).to_contain_text("The summary is empty")
    assert alarms(page) == 0
    expect(page.locator("#picture")).to_be_hidden()  # there is nothing to draw
    fill(page, SOURCE, SUMMARY)
    expect(page.locator("#picture")).to_be_visible()


@pytest.mark.slow
def test_two_summaries_are_compared(page: Any, scorer: EstimeScorer) -> None:
    page.get_by_role("tab", name="Compare").click()
    expect(page.locator("#verdict")).to_contain_text("A is the more consistent one")  # opened with an example
    for name, text in (("source", SOURCE), ("a", SUMMARY), ("b", SOURCE[:64])):
        page.locator(f"#compare-{name} textarea").fill(text)
    page.locator("#compare").click()
    expect(page.locator("#compared .estime-summary .estime-text")).to_have_text([SUMMARY, SOURCE[:64]])
    result = scorer.score_candidates([SUMMARY, SOURCE[:64]], SOURCE)
    rows = page.locator("#compared tbody tr")
    for row, measure, digits in ((0, "alarms", 0), (1, "inconsistency", 3), (3, "coverage", 3)):
        expect(rows.nth(row).locator("td")).to_have_text([f"{value:.{digits}f}" for value in result.values(measure)])
    assert result.values("inconsistency")[1] < result.values("inconsistency")[0]
    expect(page.locator("#verdict")).to_contain_text("B is the more consistent one")
    for part in (".estime-source", ".estime-legend", ".estime-signature"):
        expect(page.locator(f"#compared {part}")).to_have_count(1)
    for summary in range(2):  # both point into the one source
        page.locator("#compared .estime-summary").nth(summary).locator(".estime-unit").nth(1).click()
        expect(page.locator("#compared .estime-active")).to_have_count(1)
        expect(page.locator("#compared .estime-source .estime-best")).to_have_count(1)
    page.locator("#unit").get_by_text("words").click()
    expect(page.locator("#compared .estime-signature")).to_contain_text("unit:word")
    page.get_by_role("tab", name="Explain").click()  # it follows the setting when it is looked at
    expect(page.locator("#explained .estime-signature")).to_contain_text("unit:word")


@pytest.mark.slow
def test_a_failing_request_gets_a_message_and_no_text_is_printed(page: Any, server: Server) -> None:
    """That no text is printed is seen where the server ends."""
    page.locator("#summary textarea").evaluate(
        """element => { element.value = "zebrafinch \\ud800"; element.dispatchEvent(new Event("input")); }"""
    )
    page.locator("#explain").click()
    expect(page.locator("#explained .demo-notice")).to_contain_text("lone surrogate")
    assert "a request failed with" in server.printed.read_text()
    # While a new result is computed, the old one is hidden: Gradio then marks it, here again and again.
    fill(page, SOURCE, SUMMARY)
    ghost = page.locator("#explained .estime-counts")
    expect(ghost).to_be_visible()
    page.locator("#explained > [data-testid=status-tracker]").evaluate(
        "element => { setInterval(() => element.classList.add('translucent'), 50); }"
    )
    expect(ghost).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "theme"), [(DESK, "light"), (PHONE, "dark")], ids=["desktop-light", "phone-dark"])
def test_every_tab_fits_and_can_be_read(opened: Opener, size: tuple[int, int], theme: str) -> None:
    page = opened(size, theme)
    assert page.evaluate("document.body.classList.contains('dark')") == (theme == "dark")
    page.locator("#explained .estime-unit.estime-alarm").first.click()
    page.get_by_text("How to read this").click()
    read_well(page, size[0])
    page.get_by_role("tab", name="Compare").click()
    expect(page.locator("#compared .estime-unit.estime-alarm").first).to_be_visible()
    read_well(page, size[0])
    page.get_by_role("tab", name="Score a file").click()
    page.locator("#take-examples").click()
    expect(page.locator("#file")).to_contain_text("pairs")
    page.locator("#score").click()
    expect(page.locator("#scored tbody tr")).to_have_count(8)
    read_well(page, size[0])


def read_well(page: Any, width: int) -> None:
    """Nothing runs out of the page to the side, and every text stands out from its ground."""
    page.wait_for_timeout(400)  # colours fade in
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(STICKING_OUT) == []
    found = page.evaluate(
        CONTRASTS,
        "h1, h3, p, li, th, td, dt, dd, label > span, button, .estime-text, .estime-unit, .estime-best, .estime-same",
    )
    assert len(found) > 20
    assert not [(text, contrast) for text, contrast in found if contrast < 4.5]


# Files and encoders of a visitor's own


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
