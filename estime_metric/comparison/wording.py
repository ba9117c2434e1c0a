"""What a comparison says in words: the verdicts, and what you need to know about the numbers."""

from __future__ import annotations

import math

from estime_metric.comparison.systems import Comparison, System
from estime_metric.comparison.verdicts import RULE, Verdict, Vote
from estime_metric.measures import measure_of
from estime_metric.stats.bootstrap import RESAMPLES
from estime_metric.stats.paired import LEVEL

SMALL_SAMPLE = 30  # fewer independent examples than this are called few
LISTED = 30  # verdicts that are listed

_ADVICE = "look at explain and at copied"

_DESCRIBED = {  # how the means of a system are described
    "tokens": "{:.1f} tokens per summary",
    "coverage": "{:.0%} of them checked",
    "copied": "{:.0%} copied",
    "copied_density": "density {:.1f}",
}


def verdict_sentences(
    comparison: Comparison, first: str, second: str, *, advice: bool = False
) -> list[str]:
    """What the measures say of two systems, without a full stop; with ``advice``, what to look at if
    they disagree.

    By the rule, ``A is better than B (inconsistency .21 and .26, p .003; alarms agree)``. By one
    measure, ``alarms: A is better than B (2.1 and 2.6, p .003)``.
    """
    return [_sentence(verdict, advice) for verdict in comparison.verdicts(first, second)]


def all_verdicts(comparison: Comparison, *, advice: bool = False) -> list[str]:
    """The sentences on all pairs of systems, of many only the first `LISTED`."""
    sentences = [
        sentence
        for first, second in comparison.pairs
        for sentence in verdict_sentences(comparison, first, second, advice=advice)
    ]
    more = len(sentences) - LISTED
    return sentences if more <= 0 else [*sentences[:LISTED], f"{more} more verdicts are not listed"]


def notes(comparison: Comparison, *, advice: bool = False) -> list[str]:
    """What belongs to the numbers, one sentence or two each; with ``advice``, also what to do."""
    return [
        *(f"{sentence}." for sentence in all_verdicts(comparison, advice=advice)),
        *(_description(system) for system in comparison.systems.values()),
        _method(comparison),
        *_notes_on_sources(comparison, advice=advice),
        *(note for measure in comparison.tests for note in _notes_on_measure(comparison, measure)),
        comparison.signature,
    ]


def _sentence(verdict: Verdict, advice: bool) -> str:
    first, second = verdict.votes[0].first, verdict.votes[0].second
    if len(verdict.votes) == 1:
        (vote,) = verdict.votes
        return f"{vote.measure}: {_of_one_measure(vote)}"
    main, other = verdict.votes
    others = (
        f"{other.measure} {_verb(other, 'say')} nothing, because {other.silence}"
        if other.silence
        else f"{other.measure} {_verb(other, 'agree')}"
    )
    if verdict.winner is not None:
        return f"{_better(main, verdict.winner)} ({main.measure} {_numbers(main)}; {others})"
    if all(vote.favors is None for vote in verdict.votes):
        of_other = others if other.silence else f"{other.measure} {_p(other)}"
        return (
            f"no significant difference between {first} and {second} ({main.measure} {_p(main)}; "
            f"{of_other})"
        )
    sentence = f"no verdict on {first} and {second}: {', '.join(map(_disagreeing, verdict.votes))}"
    if not advice:
        return sentence
    disagree = all(vote.favors for vote in verdict.votes)
    return f"{sentence}{': one of them copies more' * disagree}; {_ADVICE}"


def _of_one_measure(vote: Vote) -> str:
    if vote.silence:
        return f"no verdict on {vote.first} and {vote.second}, because {vote.silence}"
    if vote.favors is None:
        return (
            f"no significant difference between {vote.first} and {vote.second} ({_numbers(vote)})"
        )
    return f"{_better(vote, vote.favors)} ({_numbers(vote)})"


def _better(vote: Vote, winner: str) -> str:
    return f"{winner} is better than {vote.second if winner == vote.first else vote.first}"


def _disagreeing(vote: Vote) -> str:
    """What a measure says that does not agree with the other."""
    if vote.favors is None:
        return f"{vote.measure} {_verb(vote, 'do')} not differ significantly ({_p(vote)})"
    return f"{vote.measure} {_verb(vote, 'favor')} {vote.favors} ({_p(vote)})"


def _numbers(vote: Vote) -> str:
    """Both means, of the better one first, and the p-value."""
    means = [vote.test.mean_first, vote.test.mean_second]
    if vote.favors == vote.second:
        means.reverse()
    decimals = next((d for d in (2, 3, 4) if len({round(mean, d) for mean in means}) > 1), 2)
    first, second = (_short(f"{mean:.{decimals}f}") for mean in means)
    return f"{first} and {second}, {_p(vote)}"


def _p(vote: Vote) -> str:
    p_value = vote.test.p_holm
    if math.isnan(p_value):
        return "p undefined"
    return "p < .0001" if p_value < 1e-4 else f"p {_short(format(p_value, '.2g'))}"


def _short(number: str) -> str:
    """Without the zero before the point."""
    return number.removeprefix("0") if number.startswith("0.") else number


def _verb(vote: Vote, verb: str) -> str:
    """A verb in the number of the measure: ``alarms agree``, ``inconsistency agrees``."""
    if measure_of(vote.measure) != RULE[0]:
        return verb
    return "does" if verb == "do" else f"{verb}s"


def _description(system: System) -> str:
    """What a system wrote: ``B: 8 summaries, 0 blank, 20.0 tokens per summary.``"""
    known = [
        f"{system.summaries} {'summary' if system.summaries == 1 else 'summaries'}",
        f"{system.blank} blank",
        *(
            shown.format(system.means[name])
            for name, shown in _DESCRIBED.items()
            if not math.isnan(system.means[name])
        ),
    ]
    return f"{system.name}: {', '.join(known)}."


def _method(comparison: Comparison) -> str:
    pairs = len(comparison.pairs)
    corrected = f", corrected by Holm's method for {pairs} pairs of systems" if pairs > 1 else ""
    number = f"{comparison.examples} {'example' if comparison.examples == 1 else 'examples'}"
    return (
        f"{number}, matched by column {comparison.matched_by!r}. 95% intervals are from a bootstrap by source "
        f"({RESAMPLES} resamples); p-values are from approximate randomization ({comparison.n} swaps)"
        f"{corrected}."
    )


def _notes_on_sources(comparison: Comparison, *, advice: bool) -> list[str]:
    """How many independent examples there are, and how far that is known."""
    repeats = comparison.sources is not None and comparison.sources < comparison.examples
    count = comparison.examples if comparison.sources is None else comparison.sources
    counted = "different sources" if repeats else "examples"
    sentences = []
    if count == 1:
        which = "All examples have the same source" if repeats else "There is only one example"
        sentences.append(
            f"{which}, so there are no intervals, and no difference can be significant."
        )
    elif count < SMALL_SAMPLE:
        sentences.append(
            f"There are only {count} {counted}. Only large differences can be significant, and the "
            "bootstrap intervals are too narrow."
        )
    if repeats and count > 1:
        sentences.append(
            f"The {comparison.examples} examples have {count} different sources. Summaries of one source "
            "are not independent, so the tests draw and swap whole sources."
        )
    if comparison.sources is None and comparison.examples > 1:
        note = "The sources are not known, so each example is treated as independent."
        if advice:
            note += (
                " If several examples share a source, the intervals are too narrow and the p-values "
                "too small. To be safe, name the column that identifies the source with "
                "`source_column` (--source-column)."
            )
        sentences.append(note)
    return sentences


def _notes_on_measure(comparison: Comparison, measure: str) -> list[str]:
    """What limits the tests of one measure."""
    sentences = []
    tests = list(comparison.tests[measure].values())
    least = math.ceil(1 - math.log2(LEVEL))  # of k sources that differ, the least p is 2 / 2 ** k
    units = (
        "sources"
        if comparison.sources is not None and comparison.sources < comparison.examples
        else "examples"
    )
    differing = [test.groups_differing for test in tests]
    few = sum(0 < number < least for number in differing)
    if few and len(tests) == 1:
        sentences.append(
            f"{measure}: only {differing[0]} of {tests[0].groups} {units} differ; significance needs at "
            f"least {least}."
        )
    elif few:
        sentences.append(
            f"{measure}: {few} of {len(tests)} pairs of systems differ in fewer than {least} {units}, "
            "which is too few for significance."
        )
    if left_out := tests[0].left_out:
        sentences.append(
            f"{measure}: {left_out} of {comparison.examples} examples are excluded because at least one "
            "system has no value."
        )
    return sentences
