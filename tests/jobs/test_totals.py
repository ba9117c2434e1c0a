"""Counts over chunks are those over all pairs."""

from __future__ import annotations

import json
from pathlib import Path

from estime_metric import EstimeScorer
from estime_metric.jobs import JobPairs, Totals
from estime_metric.jobs.totals import totals_of
from tests.jobs.conftest import rows

TEXTS = [(row["summary"], row["source"]) for row in rows(9)]
TEXTS += [("", "The cat sat."), ("zebra", "The cat sat."), ("...", "!")]


def totals(
    scorer: EstimeScorer,
    texts: list[tuple[str, str]],
    first_line: int,
    threshold: float | None = None,
) -> Totals:
    pairs = JobPairs(problems=["line 99: is bad"])
    for line, (summary, source) in enumerate(texts, start=first_line):
        pairs.add(line=line, source=source, summary=summary, others={})
        pairs.paths.append(Path("pairs.jsonl"))
    return totals_of(pairs, scorer.score(pairs.summaries, pairs.sources), threshold)


def test_totals_of_chunks_add_up_to_those_of_all(bert_folder: str) -> None:
    scorer = EstimeScorer(model=bert_folder, layers=(1, 2))
    parts = totals(scorer, TEXTS[:5], 1)
    parts.add(totals(scorer, TEXTS[5:], 6))
    whole = totals(scorer, TEXTS, 1)
    whole.skipped = 2
    result = scorer.score([summary for summary, _ in TEXTS], [source for _, source in TEXTS])
    assert parts == whole
    assert whole.blank_lines == {"pairs.jsonl": [index + 1 for index in result.blank]}
    assert whole.unchecked_lines == {"pairs.jsonl": [index + 1 for index in result.unchecked]}
    assert Totals.from_json(json.loads(json.dumps(whole.to_json()))) == whole


def test_flags_are_counted(bert_folder: str) -> None:
    scorer = EstimeScorer(model=bert_folder)
    result = scorer.score([summary for summary, _ in TEXTS], [source for _, source in TEXTS])
    parts = totals(scorer, TEXTS[:5], 1, 0.5)
    parts.add(totals(scorer, TEXTS[5:], 6, 0.5))
    assert 0 < parts.flagged == int(result.flags(0.5).sum()) < len(TEXTS)


def test_the_first_ten_lines_are_named_with_their_files() -> None:
    whole = Totals(blank=3, blank_lines={"a": [1, 5, 7]})
    whole.add(Totals(blank=4, blank_lines={"a": [9], "b": [1, 2, 3]}))
    whole.add(Totals(blank=9, blank_lines={"b": [4, 5, 6, 7, 8, 9], "c": [1, 2, 3]}))
    assert whole.blank == 16
    assert whole.blank_lines == {"a": [1, 5, 7, 9], "b": [1, 2, 3, 4, 5, 6]}
