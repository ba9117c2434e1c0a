"""Explanations to draw: one of the examples, and one of texts that would do harm if they were not
escaped.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from estime_metric import EstimeScorer, Explanation
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.verdicts import UnitVerdict
from tests.command import json_rows
from tests.explanations import explained

#: Markup, quotes, references, carriage returns, marks of direction, control codes, emoji,
#: right-to-left.
HOSTILE_SUMMARY = (
    "<script>alert('x')</script> said \"onmouseover=alert(1)\" & &amp; [bold red]x[/bold red] \x1b[31m\x07 "
    "\U0001f469\u200d\U0001f467 cafe\u0301 שלום\r\nnew $x^2$ line</span></div>"
)
HOSTILE_SOURCE = '</script><img src=x onerror=alert(2)> The "council\'s" café & שלום\u202e\n\n<b>said</b> ]]> <!-- x --> $y$'


@pytest.fixture(scope="session")
def hostile() -> Explanation:
    shown = EstimeScorer(model="embedded-small").explain(HOSTILE_SUMMARY, HOSTILE_SOURCE)
    return replace(shown, signature="ESTIME|model:<i>&\"'")


@pytest.fixture(scope="session")
def examples() -> list[Explanation]:
    """The first two examples, a faithful summary and an unfaithful one of one source."""
    rows = json_rows(EXAMPLES)[:2]
    scorer = EstimeScorer(model="embedded-small", distance=8)
    return scorer.explain_pairs([row["summary"] for row in rows], [row["source"] for row in rows])


@pytest.fixture(scope="session")
def example(examples: list[Explanation]) -> Explanation:
    """An unfaithful summary."""
    return examples[1]


@pytest.fixture(params=[("", ""), ("", "A cat."), ("A cat.", ""), (" ", "\n")])
def empty(request: pytest.FixtureRequest) -> Explanation:
    summary, source = request.param
    words = [UnitVerdict(0, 6, "absent", None, None, None)] if summary.strip() else []
    return explained(summary, source, words)
