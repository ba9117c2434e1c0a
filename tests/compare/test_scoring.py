"""Systems without scores are scored with the settings of those that have some."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.compare.request import Gate, Request
from estime_metric.compare.scoring import score_missing

SOURCES = [f"The cat of house {n} slept near the river. The bridge opened." for n in range(10)]
SUMMARIES = {"a": ["The cat slept near the river."] * 10, "b": ["The dog slept in June."] * 10}


def texts(name: str, **further: Any) -> pd.DataFrame:
    columns = {"id": range(10), "source": SOURCES, "summary": SUMMARIES[name]}
    return pd.DataFrame({**columns, **further}, index=pd.RangeIndex(1, 11, name="line"))


@pytest.fixture
def settings(bert_folder: str) -> dict[str, Any]:
    return {"model": bert_folder, "window": 60, "margin": 10}


def scored(name: str, settings: dict[str, Any]) -> pd.DataFrame:
    """Scores with their texts and their record, as they are read from a file."""
    result = EstimeScorer(**settings).score(SUMMARIES[name], SOURCES)
    rows = result.table(texts=True)
    rows.attrs["record"] = {"signature": str(result.signature), "config": settings}
    return rows


def test_texts_are_scored_with_the_settings_of_the_scored_system(settings: dict[str, Any]) -> None:
    """Their own columns stay, unless they have the names of outputs; what has scores is as it was."""
    strange = {"line": 7, "tokens": "many", "signature": "J. Doe", "alarms_layer3": 5, "blank": 1}
    systems = {"a": texts("a", hhem=0.5, **strange), "b": scored("b", settings).assign(hhem=0.4)}
    tables = score_missing(systems, Request(measures=["alarms", "hhem"]))
    assert tables["a"]["alarms"].tolist() == scored("a", settings)["alarms"].tolist()
    assert set(tables["a"]["signature"]) == set(tables["b"]["signature"])
    assert tables["a"][["hhem", "id"]].equals(systems["a"][["hhem", "id"]])
    assert tables["b"] is systems["b"]


def test_without_scores_the_settings_are_the_defaults_with_the_requested_measures() -> None:
    tables = score_missing({name: texts(name) for name in "ab"}, Request(measures="soft"))
    for name, rows in tables.items():
        assert rows["alarms"].tolist() == scored(name, {})["alarms"].tolist()
        assert rows["soft"].notna().all()


def test_scores_with_settings_that_cannot_be_used_have_to_be_computed_again(
    settings: dict[str, Any],
) -> None:
    scores = scored("b", settings)
    systems = {"a": texts("a"), "b": scores}
    again = "Score b again: estime score b -o FILE"
    with pytest.raises(ValueError, match=r"'soft' in b, but .* Score it again with soft"):
        score_missing(systems, Request(measures="soft"))
    scores.attrs["record"]["config"] = {**settings, "model": f"{settings['model']}/gone"}
    with pytest.raises(ValueError, match=f"there is no such folder.*{again}"):
        score_missing(systems, Request())
    scores.attrs.clear()  # without a record they have to agree with the defaults
    with pytest.raises(ValueError, match=rf"signature would be ESTIME\|.*{again}"):
        score_missing(systems, Request())
    scores["signature"] = "ESTIME|model:x|layers:5|version:0"
    with pytest.raises(ValueError, match=f"they have version 0, and this is .*{again}"):
        score_missing(systems, Request())


def test_a_base_of_another_signature_is_scored_again_for_a_gate(settings: dict[str, Any]) -> None:
    """With the settings of the new system."""
    base, new = scored("a", settings), scored("b", {**settings, "distance": 4})
    pairs = texts("a")
    request = Request(measures="inconsistency")
    for first, second, leader in ((base, new, new), (pairs, new, new), (base, pairs, base)):
        tables = score_missing({"base": first, "new": second}, request, gate=Gate())
        signatures = {signature for rows in tables.values() for signature in rows["signature"]}
        assert signatures == set(leader["signature"])
    # A base of another version is scored again with its settings if the new system has no scores.
    signature = base["signature"].iloc[0]
    older = base.assign(signature=signature.replace("|version:", "|version:0."))
    tables = score_missing({"base": older, "new": pairs}, request, gate=Gate())
    assert set(tables["base"]["signature"]) == set(tables["new"]["signature"]) == {signature}
    bare = base.drop(columns=["source", "summary"])
    with pytest.raises(ValueError, match=r"texts that can be scored again, .* 'source' .* missing"):
        score_missing({"base": bare, "new": new}, request, gate=Gate())


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
        score_missing(systems, Request(**request_), gate=Gate())
