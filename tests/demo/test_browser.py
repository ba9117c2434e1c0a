"""The demo in a real browser, as its visitors meet it."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer
from tests.browser import CONTRASTS, STICKING_OUT
from tests.demo.conftest import DESK, HOSTILE, PHONE, ROWS, SOURCE, SUMMARY, Demo, Opener, alarms, choose

from tests.demo.conftest import expected_soon, fill  # isort: skip

expect = expected_soon()
pytestmark = pytest.mark.slow


def test_it_opens_with_an_example_explained_and_explains_another_and_ones_own(page: Any, scorer: EstimeScorer) -> None:
    assert page.title() == "ESTIME"
    summary, source = (page.locator(f"#{name} textarea").input_value() for name in ("summary", "source"))
    assert {"source": source, "summary": summary, "verdict": "unfaithful"}.items() <= ROWS[3].items()
    assert alarms(page) == scorer.explain(summary, source).alarms > 0
    expect(page.locator("#explained .estime-signature")).to_have_text(scorer.signature)
    page.get_by_text("How to read this").click()
    expect(page.get_by_text("Compare summaries by the inconsistency")).to_be_visible()

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

    fill(page, SOURCE, SUMMARY)
    expect(page.locator("#explained .estime-summary .estime-text")).to_have_text(SUMMARY)
    shown = scorer.explain(SUMMARY, SOURCE)
    assert alarms(page) == shown.alarms
    marked = page.locator("#explained .estime-unit.estime-alarm").all_inner_texts()
    assert marked == [SUMMARY[word.start : word.end] for word in shown.words if word.verdict == "alarm"]


@pytest.mark.parametrize(("size", "theme"), [(DESK, "light"), (PHONE, "dark")], ids=["desktop-light", "phone-dark"])
def test_every_tab_fits_and_can_be_read_and_a_clicked_alarm_shows_its_evidence(
    opened: Opener, scorer: EstimeScorer, size: tuple[int, int], theme: str
) -> None:
    page = opened(size, theme)
    page.add_style_tag(content="* { transition: none !important; }")  # colours would fade in
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

    page.get_by_role("tab", name="Explain").click()
    source, summary = ROWS[5]["source"] + " " + ROWS[1]["source"] + " " + ROWS[7]["source"], ROWS[7]["summary"]
    fill(page, source, summary)  # the evidence lies at the end of a long source, out of sight at first
    expect(page.locator("#explained .estime-summary .estime-text")).to_have_text(summary)
    found = [word for word in scorer.explain(summary, source).words if word.verdict == "alarm"]
    index, alarm = next((n, word) for n, word in enumerate(found) if word.best.start > len(source) - 500)
    clicked = page.locator("#explained .estime-alarm.estime-unit").nth(index)
    expect(clicked).to_have_text(summary[alarm.start : alarm.end])
    clicked.scroll_into_view_if_needed()
    clicked.click()
    evidence, pane = (page.locator(f"#explained .estime-source .estime-{name}") for name in ("best", "text"))
    expect(evidence).to_have_text(source[alarm.best.start : alarm.best.end])
    window = {"x": 0, "y": 0, "width": size[0], "height": size[1]}
    assert soon(page, lambda: lies_within(evidence.bounding_box(), pane.bounding_box()))  # it is scrolled to
    assert soon(page, lambda: lies_within(evidence.bounding_box(), window))
    if size == PHONE:  # the source is docked to the lower edge
        assert page.locator("#explained .estime-source").bounding_box()["height"] < 300
        assert lies_within(pane.bounding_box(), window)
    expect(page.locator("#explained .estime-note")).to_contain_text("is an alarm")


def read_well(page: Any, width: int) -> None:
    """Nothing runs out of the page to the side, and every text stands out from its ground."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(STICKING_OUT) == []
    found = page.evaluate(
        CONTRASTS,
        "h1, h3, p, li, th, td, dt, dd, label > span, button, .estime-text, .estime-unit, .estime-best, .estime-same",
    )
    assert len(found) > 20
    assert not [(text, contrast) for text, contrast in found if contrast < 4.5]


def soon(page: Any, holds: Callable[[], bool]) -> bool:
    """Whether something holds now or within some seconds."""
    for _ in range(100):
        if holds():
            return True
        page.wait_for_timeout(50)
    return False


def lies_within(inner: dict[str, float], outer: dict[str, float]) -> bool:
    return all(
        outer[at] - 1 <= inner[at] and inner[at] + inner[size] <= outer[at] + outer[size] + 1
        for at, size in (("x", "width"), ("y", "height"))
    )


def test_unit_layer_and_encoder_change_the_result_and_nothing_chosen_stays(
    page: Any, bert_folder: str, tmp_path: Path
) -> None:
    pair = ROWS[3]["summary"], ROWS[3]["source"]
    signature = page.locator("#explained .estime-signature")
    page.locator("#explained .estime-unit.estime-alarm").first.click()
    page.mouse.move(1, 1)
    expect(page.locator("#explained .estime-active")).to_have_count(1)
    page.locator("#unit").get_by_text("words").click()
    words = EstimeScorer(model="embedded-small", unit="word")
    expect(signature).to_have_text(words.signature)
    assert alarms(page) == words.explain(*pair).alarms
    page.locator("#explained .estime-unit.estime-match").first.hover()
    page.mouse.move(1, 1)
    expect(page.locator("#explained .estime-active")).to_have_count(0)
    number, slider = (page.locator(f"#layer input[type={kind}]") for kind in ("number", "range"))
    number.fill("2")
    number.press("Tab")
    second = EstimeScorer(model="embedded-small", unit="word", layers=2)
    expect(signature).to_have_text(second.signature)
    assert alarms(page) == second.explain(*pair).alarms != words.explain(*pair).alarms
    slider.focus()
    slider.press("ArrowRight")
    expect(signature).to_have_text(EstimeScorer(model="embedded-small", unit="word", layers=3).signature)

    page.locator("#unit").get_by_text("tokens").click()
    choose(page, "#model", Path(bert_folder).name)
    other = EstimeScorer(model=bert_folder)
    expect(signature).to_have_text(other.signature)
    assert alarms(page) == other.explain(*pair).alarms
    expect(slider).to_have_attribute("max", str(other.encoder.info.blocks))
    number.fill("1")
    number.press("Tab")
    expect(signature).to_contain_text("|layers:1|")
    choose(page, "#model", re.compile("bert-large-uncased-whole-word-masking"))
    expect(page.get_by_text("cannot be loaded here")).to_be_visible()
    expect(page.locator("#model input")).to_have_value(Path(bert_folder).name)
    expect(signature).to_contain_text("|layers:1|")

    # Any encoder may be typed in.
    copy = shutil.copytree(bert_folder, tmp_path / "mine")
    page.locator("#model input").fill(str(copy))
    page.locator("#model input").press("Enter")
    expect(signature).to_have_text(EstimeScorer(model=str(copy)).signature)
    page.locator("#model input").fill("/no/such/<b>encoder</b>")
    page.locator("#model input").press("Enter")
    expect(page.get_by_text("The encoder /no/such/<b>encoder</b> cannot be loaded here")).to_be_visible()
    expect(page.locator("#model input")).to_have_value(str(copy))


def test_hostile_long_and_empty_texts_and_other_scripts(page: Any, demo: Demo) -> None:
    """That no text is printed is seen where the server ends."""
    emoji = "\U0001f469\u200d\U0001f680 \U0001f1e9\U0001f1f0"
    source = f"\u05d4\u05d7\u05ea\u05d5\u05dc \u05d9\u05e9\u05df. The cat {emoji} sleeps, cafe\u0301!"
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

    page.get_by_role("tab", name="Explain").click()
    notice = page.locator("#explained .demo-notice")
    fill(page, "zebrafinch " * 2000, SUMMARY)
    expect(notice).to_contain_text("The source has 22,000 characters; this page takes up to 20,000.")
    fill(page, "a " * 4500, SUMMARY)
    shown = "The source has 4,500 tokens; with embedded-small (small, in the package) this page takes up to 4,000."
    expect(notice).to_contain_text(shown)
    fill(page, SOURCE, " ")
    expect(page.locator("#explained .estime-remark")).to_contain_text("The summary is empty")
    assert alarms(page) == 0
    expect(page.locator("#picture")).to_be_hidden()  # there is nothing to draw
    page.locator("#summary textarea").evaluate(
        """element => { element.value = "zebrafinch \\ud800"; element.dispatchEvent(new Event("input")); }"""
    )
    page.locator("#explain").click()
    expect(notice).to_contain_text("lone surrogate")
    assert "a request failed with" in demo.printed.read_text()
    fill(page, SOURCE, SUMMARY)
    expect(page.locator("#picture")).to_be_visible()

    # While a new result is computed, the old one is hidden: Gradio then marks it, here again and again.
    ghost = page.locator("#explained .estime-counts")
    expect(ghost).to_be_visible()
    page.locator("#explained > [data-testid=status-tracker]").evaluate(
        "element => { setInterval(() => element.classList.add('translucent'), 50); }"
    )
    expect(ghost).to_be_hidden()


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


def test_a_file_is_uploaded_and_its_scores_downloaded(opened: Opener, scorer: EstimeScorer, tmp_path: Path) -> None:
    page, explaining = opened(), opened()
    table = tmp_path / "pairs.csv"
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "article", "summary"])
        hit = "<img src=x onerror='window.hit=1'>"
        writer.writerows([hit, row["source"], row["summary"]] for row in ROWS[:3])
        writer.writerows([["x", HOSTILE, HOSTILE], ["no summary", HOSTILE]])
    page.get_by_role("tab", name="Score a file").click()
    page.locator("#file input[type=file]").set_input_files(table)
    expect(page.locator("#file")).to_contain_text("pairs")
    page.locator("#score").click()
    refused = "Expected a column 'source' in pairs.csv, but its columns are id, article, summary"
    expect(page.locator("#scored .demo-notice")).to_contain_text(refused)
    page.locator("#source-column input, #source-column textarea").fill("article")
    page.locator("#score").click()
    expect(page.locator("#scored tbody tr")).to_have_count(4)
    expect(page.locator("#scored .demo-verdict")).to_contain_text("4 of 5 rows scored, 1 skipped.")
    expect(page.locator("#scored")).to_contain_text("line 6: column 'summary' should hold a text, but holds nothing")
    with page.expect_download() as waiting:
        page.locator("#download").click()
    waiting.value.save_as(tmp_path / "scores.csv")
    assert waiting.value.suggested_filename == "scores.csv"
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    texts = [(row["summary"], row["source"]) for row in ROWS[:3]] + [(HOSTILE, HOSTILE)]
    result = scorer.score([summary for summary, _ in texts], [source for _, source in texts])
    for measure in ("alarms", "overlap", "tokens"):
        assert [float(row[measure]) for row in rows] == result.values(measure).tolist()
    assert [float(row["alarm_rate"]) for row in rows] == pytest.approx(result.values("alarm_rate").tolist(), abs=1e-6)
    assert {row["signature"] for row in rows} == {scorer.signature}
    assert page.evaluate("window.hit") is None

    # An explanation does not wait for a long file.
    table = tmp_path / "long.jsonl"
    rows = [{**row, "source": f"{number} {row['source']}"} for number in range(40) for row in ROWS]
    table.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    page.locator("#file").get_by_label("Clear").click()
    page.locator("#source-column input, #source-column textarea").fill("source")
    page.locator("#file input[type=file]").set_input_files(table)
    expect(page.locator("#file")).to_contain_text("long")
    page.locator("#score").click()
    expect(page.locator("#scored progress")).to_be_visible()
    fill(explaining, SOURCE, SUMMARY)
    expect(explaining.locator("#explained .estime-summary .estime-text")).to_have_text(SUMMARY)
    expect(page.locator("#scored progress")).to_be_visible()  # the file is still under way
    page.locator("#stop").click()
    expect(page.locator("#scored .demo-notice")).to_have_text("Stopped.")
