"""Systems without scores are scored with the settings of those that have some."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from estime_metric import EstimeScorer
from estime_metric.compare import Comparison
from estime_metric.compare.read import read_systems
from estime_metric.compare.request import Gate, Request
from estime_metric.compare.scoring import compare
from estime_metric.jobs import NotResumableError
from estime_metric.table.scores import Scores

SOURCES = [f"The cat of house {n} slept near the river. The bridge opened." for n in range(10)]
SUMMARIES = {"a": ["The cat slept near the river."] * 10, "b": ["The dog slept in June."] * 10}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def texts(name: str, **further: Any) -> Scores:
    """A file of pairs, read."""
    columns = {"id": range(10), "source": SOURCES, "summary": SUMMARIES[name]}
    path = Path(f"{name}.jsonl")
    pd.DataFrame({**columns, **further}).to_json(path, orient="records", lines=True)
    return Scores.read(path, own_columns=["id", "source_id"])


@pytest.fixture
def settings(bert_folder: str) -> dict[str, Any]:
    return {"model": bert_folder, "window": 60, "margin": 10}


def scored(name: str, settings: dict[str, Any]) -> Scores:
    """A file of scores with their texts, read, and their record."""
    result = EstimeScorer(**settings).score(SUMMARIES[name], SOURCES)
    path = Path(f"{name}-scored.jsonl")
    Scores(result.table(texts=True).assign(id=range(10))).write(path)
    record = {"signature": str(result.signature), "config": settings}
    return replace(Scores.read(path), record=record)


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
        comparison = compare({"base": first, "new": second}, request, gate=Gate(), overwrite=True)
        expected = {"base": scored("a", leading), "new": scored("b", leading)}
        assert comparison.signature == expected["new"].signature
        for name, scores in expected.items():
            frame = scores.frame["inconsistency"]
            assert values(comparison, "inconsistency", name) == pytest.approx(frame, abs=1e-6)
    bare = replace(base, frame=base.frame.drop(columns=["source", "summary"]))
    with pytest.raises(ValueError, match=r"texts that can be scored again, .* 'source' .* missing"):
        compare({"base": bare, "new": new}, request, gate=Gate())


def test_what_was_scored_is_beside_its_file_and_is_not_scored_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor if its run was stopped. Other settings replace it only if this is said."""
    systems, request = {name: texts(name) for name in "ab"}, Request(measures="alarms")
    score, calls = EstimeScorer.score_checked, []

    def stopped(self: EstimeScorer, summaries: list[str], *further: Any) -> Any:
        calls.append(summaries)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return score(self, summaries, *further)

    monkeypatch.setattr(EstimeScorer, "score_checked", stopped)
    told: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        compare(systems, request, on_scoring=told.append)
    first = compare(systems, request)
    assert calls == [SUMMARIES["a"], SUMMARIES["b"], SUMMARIES["b"]]
    assert told == [f"Scores of {name}.jsonl: {name}.jsonl.scores.jsonl" for name in "ab"]
    again = compare(systems, request)
    assert len(calls) == 3
    assert again.values.equals(first.values)
    scores = Scores.read("a.jsonl.scores.jsonl").frame["alarms"]
    assert scores.tolist() == values(first, "alarms", "a")
    with pytest.raises(NotResumableError, match="same measures") as refused:
        compare(systems, Request(measures="soft"))
    assert refused.value.__notes__ == ["The earlier run has written a.jsonl.scores.jsonl."]
    assert compare(systems, Request(measures="soft"), overwrite=True).measures == ["soft"]


def test_all_systems_of_one_file_are_scored_with_it() -> None:
    rows = pd.concat([texts(name).frame.assign(system=name) for name in "ab"])
    rows.to_json("all.jsonl", orient="records", lines=True)
    request = Request(measures="alarms")
    of_one = compare(read_systems({"all": Path("all.jsonl")}, request, []), request)
    assert of_one.values.equals(compare({name: texts(name) for name in "ab"}, request).values)
    assert len(Scores.read("all.jsonl.scores.jsonl").frame) == 20


def test_only_files_that_stay_can_be_scored() -> None:
    systems = {name: texts(name) for name in "ab"}
    with pytest.raises(ValueError, match="Expected b to have scores or to be a file"):
        compare(systems | {"b": replace(systems["b"], path=Path("-"))}, Request())
    Path("a.jsonl.scores.jsonl").write_text("")
    scores = replace(scored("b", {}), path=Path("a.jsonl.scores.jsonl"))
    with pytest.raises(ValueError, match=r"such as \*\.jsonl matches it, name the inputs"):
        compare(systems | {"b": scores}, Request())


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
