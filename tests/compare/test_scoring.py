"""Systems without scores are scored with the settings of those that have some."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.compare import Comparison
from estime_metric.compare.request import Gate, Request
from estime_metric.compare.scoring import compare
from estime_metric.table.scores import Scores

SOURCES = [f"The cat of house {n} slept near the river. The bridge opened." for n in range(10)]
SUMMARIES = {"a": ["The cat slept near the river."] * 10, "b": ["The dog slept in June."] * 10}


def texts(name: str, **further: Any) -> Scores:
    columns = {"id": range(10), "source": SOURCES, "summary": SUMMARIES[name]}
    return Scores(pd.DataFrame({**columns, **further}, index=pd.RangeIndex(1, 11, name="line")))


@pytest.fixture
def settings(bert_folder: str) -> dict[str, Any]:
    return {"model": bert_folder, "window": 60, "margin": 10}


def scored(name: str, settings: dict[str, Any]) -> Scores:
    """Scores with their texts and their record, as they are read from a file."""
    result = EstimeScorer(**settings).score(SUMMARIES[name], SOURCES)
    frame = result.table(texts=True).assign(id=range(10))
    return Scores(frame, {"signature": str(result.signature), "config": settings})


def values(comparison: Comparison, measure: str, name: str) -> list[float]:
    """The values of a system in the order of its lines."""
    order = comparison.tables[name]["line"].argsort()
    return comparison.values[measure, name].iloc[order].tolist()


def test_texts_are_scored_with_the_settings_of_the_scored_system(settings: dict[str, Any]) -> None:
    """Their own columns stay, unless they have the names of outputs; what has scores is as it was."""
    strange = {"line": 7, "tokens": "many", "signature": "J. Doe", "alarms_layer3": 5, "blank": 1}
    b = scored("b", settings)
    b = replace(b, frame=b.frame.assign(hhem=0.4, alarms=range(10)))
    systems = {"a": texts("a", hhem=0.5, **strange), "b": b}
    comparison = compare(systems, Request(measures=["alarms", "hhem"], id_column="id"))
    a = scored("a", settings)
    assert values(comparison, "alarms", "a") == a.frame["alarms"].tolist()
    assert values(comparison, "alarms", "b") == [*range(10)]
    assert comparison.values["hhem"].to_numpy().tolist() == [[0.5, 0.4]] * 10
    assert comparison.tables["a"]["tokens"].tolist() == a.frame["tokens"].tolist()
    assert comparison.tables["a"]["blank"].tolist() == [0.0] * 10
    assert comparison.signature == a.signature == b.signature


def test_without_scores_the_settings_are_the_defaults_with_the_requested_measures() -> None:
    comparison = compare({name: texts(name) for name in "ab"}, Request(measures="soft,alarms"))
    for name in "ab":
        frame = scored(name, {"measures": "soft"}).frame
        for measure in ("soft", "alarms"):
            assert values(comparison, measure, name) == frame[measure].tolist()


def test_scores_with_settings_that_cannot_be_used_have_to_be_computed_again(
    settings: dict[str, Any],
) -> None:
    scores = scored("b", settings)
    again = "Score b again: estime score b -o FILE"
    with pytest.raises(
        ValueError, match=r"'soft' in b, but .* again: estime score --measures soft"
    ):
        compare({"a": texts("a"), "b": scores}, Request(measures="soft"))
    gone = {**scores.record, "config": {**settings, "model": f"{settings['model']}/gone"}}
    other = scores.frame.assign(signature="ESTIME|model:x|layers:5|version:0")
    for useless, message in (
        (replace(scores, record=gone), "there is no such folder"),
        # Without a record they have to agree with the defaults.
        (replace(scores, record={}), r"signature would be ESTIME\|"),
        (Scores(other), "they have version 0, and this is "),
    ):
        with pytest.raises(ValueError, match=f"{message}.*{again}"):
            compare({"a": texts("a"), "b": useless}, Request())


def test_a_base_of_another_signature_is_scored_again_for_a_gate(settings: dict[str, Any]) -> None:
    """With the settings of the new system."""
    others = {**settings, "distance": 4}
    base, new = scored("a", settings), scored("b", others)
    pairs = {name: texts(name) for name in "ab"}
    request = Request(measures="inconsistency")
    # A base of another version is scored again with its settings if the new system has no scores.
    signature = base.signature.replace("|version:", "|version:0.")
    older = replace(base, frame=base.frame.assign(signature=signature))
    for first, second, leading in (
        (base, new, others),
        (pairs["a"], new, others),
        (base, pairs["b"], settings),
        (older, pairs["b"], settings),
    ):
        comparison = compare({"base": first, "new": second}, request, gate=Gate())
        expected = {"base": scored("a", leading), "new": scored("b", leading)}
        assert comparison.signature == expected["new"].signature
        for name, scores in expected.items():
            frame = scores.frame["inconsistency"]
            assert values(comparison, "inconsistency", name) == pytest.approx(frame, abs=1e-6)
    bare = replace(base, frame=base.frame.drop(columns=["source", "summary"]))
    with pytest.raises(ValueError, match=r"texts that can be scored again, .* 'source' .* missing"):
        compare({"base": bare, "new": new}, request, gate=Gate())


@pytest.mark.parametrize(
    ("b", "request_", "message"),
    [
        ({}, {"measures": "alarms,sofft"}, "columns are .* Did you mean 'soft'?"),
        (
            {"hhem": [0.1, "93%", *[0.3] * 8]},
            {"measures": "alarms,hhem"},
            "numbers, but line 2 has '93%'",
        ),
        ({"source": [*SOURCES[:9], "Nobody."]}, {}, "10 sources with .* but got 9"),
        ({"id": [0, *range(9)]}, {"id_column": "id"}, "rows of b, but the value '0' occurs twice"),
        ({"source": "Nobody."}, {}, "common, but by column 'source' they have none: a: 'The cat"),
        ({"source_id": "x"}, {"id_column": "source_id"}, "'source_id' to be computed for a, but a"),
        (
            {"coherence": 4},
            {"measures": "coherence"},
            "'coherence' to be computed for b, but b has",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_scored(
    b: dict[str, Any], request_: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EstimeScorer, "load", lambda _: pytest.fail("An encoder was loaded."))
    systems = {"a": texts("a", hhem=0.5, source_id="x"), "b": texts("b", **{"hhem": 0.4, **b})}
    with pytest.raises(ValueError, match=message):
        compare(systems, Request(**request_), gate=Gate())
