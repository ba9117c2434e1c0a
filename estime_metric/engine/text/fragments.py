"""Extractive fragments: the runs of units that a summary copies from its source; no encoder is needed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

Automaton = list[dict[Hashable, int]]  # state -> unit -> next state; state 0 is the beginning


def automaton_of(source: Iterable[Hashable]) -> Automaton:
    """A suffix automaton, whose walks are the runs of units that occur in the source, in linear
    time and space.

    Source: Blumer et al. 1985, The smallest automaton recognizing the subwords of a text.
    """
    steps: Automaton = [{}]
    links, lengths = [-1], [0]
    last = 0
    for unit in source:
        new, state = len(steps), last
        steps.append({})
        links.append(0)
        lengths.append(lengths[last] + 1)
        while state >= 0 and unit not in steps[state]:
            steps[state][unit] = new
            state = links[state]
        if state >= 0:
            old = steps[state][unit]
            if lengths[old] == lengths[state] + 1:
                links[new] = old
            else:
                copy = len(steps)
                steps.append(steps[old].copy())
                links.append(links[old])
                lengths.append(lengths[state] + 1)
                while state >= 0 and steps[state].get(unit) == old:
                    steps[state][unit] = copy
                    state = links[state]
                links[new] = links[old] = copy
        last = new
    return steps


def fragment_lengths(prediction: Sequence[Hashable | None], source: Automaton) -> list[int]:
    """The lengths of the extractive fragments of a summary, in its order; a unit ``None`` is never
    copied.

    From left to right, the longest run of units that begins here and occurs anywhere in the source
    is a fragment; the next one begins behind it. The published procedure passes over occurrences
    within a run that it has just tried, so that in a source that repeats itself ("no no no way") it
    may find a shorter run than the longest.

    Source: Grusky, Naaman & Artzi 2018 (Newsroom), section 4 and Fig. 3.
    """
    lengths = []
    start = 0
    while start < len(prediction):
        state, stop = 0, start
        while (
            stop < len(prediction)
            and (unit := prediction[stop]) is not None
            and unit in source[state]
        ):
            state = source[state][unit]
            stop += 1
        if stop > start:
            lengths.append(stop - start)
        start = max(stop, start + 1)
    return lengths
