"""Explanations to draw: one of the examples, and one of texts that would do harm if they were not
escaped.
"""

from __future__ import annotations

import json

import pytest

from estime_metric import EstimeScorer, Explanation
from estime_metric.examples import PATH as EXAMPLES
from estime_metric.verdicts import Evidence, UnitVerdict
from tests.explanations import explained

#: Markup, quotes, references, carriage returns, marks of direction, control codes, emoji,
#: right-to-left.
HOSTILE_SUMMARY = (
    "<script>alert('x')</script> said \"onmouseover=alert(1)\" & &amp; [bold red]x[/bold red] \x1b[31m\x07 "
    "\U0001f469\u200d\U0001f467 cafe\u0301 שלום\r\nnew $x^2$ line</span></div>"
)
HOSTILE_SOURCE = '</script><img src=x onerror=alert(2)> The "council\'s" café & שלום\u202e\n\n<b>said</b> ]]> <!-- x --> $y$'


def units_of(text: str, source: str) -> tuple[UnitVerdict, ...]:
    """Verdicts of all kinds on the words of a text between blanks, with evidence anywhere in the
    source.
    """
    units, cursor = [], 0
    for number, word in enumerate(text.split()):
        start = text.index(word, cursor)
        cursor = start + len(word)
        at = (7 * number) % max(1, len(source) - 6)
        best, same = Evidence(at, at + 5, 9.0), Evidence(at // 2, at // 2 + 3, 8.0 - number)
        kinds = (
            ("alarm", best, same, -1.0 - number, 0.9),
            ("absent", best, None, None),
            ("match", best, best, None),
        )
        units.append(UnitVerdict(start, cursor, *kinds[number % 3]))
    return tuple(units)


@pytest.fixture(scope="session")
def hostile() -> Explanation:
    units = units_of(HOSTILE_SUMMARY, HOSTILE_SOURCE)
    signature = "ESTIME|model:<i>&\"'"
    return explained(HOSTILE_SUMMARY, HOSTILE_SOURCE, units, unit="word", signature=signature)


@pytest.fixture(scope="session")
def examples() -> list[Explanation]:
    """The first two examples, a faithful summary and an unfaithful one of one source."""
    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()][:2]
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
