"""What a comparison says in words: the verdicts, and what you need to know about the numbers."""

from __future__ import annotations

import math

from estime_metric.comparison.systems import Comparison
from estime_metric.comparison.verdicts import Verdict, Vote
from estime_metric.measures import MEASURES, measure_of
from estime_metric.report.tables import fixed
from estime_metric.stats.bootstrap import FEW_SOURCES, RESAMPLES
from estime_metric.stats.paired import LEVEL

LISTED = 30  # verdicts that are listed

_ADVICE = "look at explain and at copied_density"


def verdict_sentences(
    comparison: Comparison, first: str, second: str, *, advice: bool = False
) -> list[str]:
    """What the measures say of two systems, without a full stop; with ``advice``, what to look at if
    they disagree.

    By the rule, ``A is better than B (inconsistency 0.2104 and 0.2635, p 0.003; alarms agree)``. By
    one measure, ``A is better than B (alarms 2.10 and 2.60, p 0.003)``. From a single source, no
    verdict is possible, and the sentence gives the numbers.
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
        _method(comparison),
        *_notes_on_sources(comparison, advice=advice),
        *(note for measure in comparison.tests for note in _notes_on_measure(comparison, measure)),
        comparison.signature,
    ]


def _sentence(verdict: Verdict, advice: bool) -> str:
    first, second = verdict.votes[0].first, verdict.votes[0].second
    statements = [_statement(vote) for vote in verdict.votes]
    favored = [vote for vote in verdict.votes if vote.favors]
    if verdict.winner is not None:
        loser = second if verdict.winner == first else first
        main, *others = favored
        details = [f"{main.measure} {_means(main)}, {_p(main)}"]
        details += [f"{vote.measure} {_verb(vote, 'agree')}" for vote in others]
        details += _of_silent(verdict)
        return f"{verdict.winner} is better than {loser} ({'; '.join(details)})"
    if all(vote.silence for vote in verdict.votes):
        return f"no verdict on {first} and {second}: {statements[0]}"
    if verdict.votes[0].test.groups == 1:
        return f"no verdict on {first} and {second} from one source: {', '.join(statements)}"
    if not favored:
        known = [f"{vote.measure} {_p(vote)}" for vote in verdict.votes if not vote.silence]
        statements = known + _of_silent(verdict)
        return f"no significant difference between {first} and {second} ({'; '.join(statements)})"
    sentence = f"no verdict on {first} and {second}: {', '.join(statements)}"
    if not advice:
        return sentence
    disagree = len(favored) > 1
    return f"{sentence}{': one of them copies more' * disagree}; {_ADVICE}"


def _of_silent(verdict: Verdict) -> list[str]:
    return [_statement(vote) for vote in verdict.votes if vote.silence]


def _statement(vote: Vote) -> str:
    """What one measure says, also if it does not agree with another."""
    measure, test = vote.measure, vote.test
    if vote.silence:
        return f"{measure} {_verb(vote, 'say')} nothing, because {vote.silence}"
    if test.groups == 1:
        if not test.difference:
            return f"{measure} {_verb(vote, 'are')} equal ({_means(vote)})"
        comparative = "higher" if test.higher_is_better else "lower"
        leader = vote.first if _leads_first(vote) else vote.second
        return f"{measure} {_verb(vote, 'are')} {comparative} for {leader} ({_means(vote)})"
    if vote.favors is None:
        return f"{measure} {_verb(vote, 'do')} not differ significantly ({_p(vote)})"
    return f"{measure} {_verb(vote, 'favor')} {vote.favors} ({_p(vote)})"


def _means(vote: Vote) -> str:
    """Both means, of the better one first, as they are printed elsewhere, with more digits if they
    would look equal.
    """
    means = [vote.test.mean_first, vote.test.mean_second]
    if not _leads_first(vote):
        means.reverse()
    least = MEASURES[measure_of(vote.measure)].decimals
    decimals = next(
        (d for d in range(least, 7) if len({fixed(mean, d) for mean in means}) > 1), least
    )
    return " and ".join(fixed(mean, decimals) for mean in means)


def _leads_first(vote: Vote) -> bool:
    """Whether the first system has the better mean."""
    return (vote.test.difference > 0) == vote.test.higher_is_better


def _p(vote: Vote) -> str:
    p_value = vote.test.p_holm
    if math.isnan(p_value):
        return "p undefined"
    return "p < 0.0001" if p_value < 1e-4 else f"p {p_value:.2g}"


def _verb(vote: Vote, verb: str) -> str:
    """A verb in the number of the measure: ``alarms agree``, ``inconsistency agrees``."""
    measure = measure_of(vote.measure)
    if measure.startswith("alarms") or measure.endswith("s"):
        return verb
    return {"do": "does", "are": "is"}.get(verb, f"{verb}s")


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
    elif count < FEW_SOURCES:
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
    few = sum(0 < test.groups_differing < least and test.groups > 1 for test in tests)
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
