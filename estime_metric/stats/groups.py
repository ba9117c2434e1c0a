"""Groups of examples that are not independent, such as the summaries of one source."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from estime_metric.stats.ranks import Codes


def group_codes(groups: Iterable[Hashable] | None, examples: int) -> Codes:
    """The number of each example's group, from 0 in the order in which the groups first occur, of
    shape (examples,); ``None`` makes each example a separate group.

    TypeError: a group is not hashable. ValueError: there is not one group for each example.

    Example:
        >>> group_codes(["x", "y", "x"], 3).tolist(), group_codes(None, 3).tolist()
        ([0, 1, 0], [0, 1, 2])
    """
    if groups is None:
        return np.arange(examples, dtype=np.int64)
    group_by_example = list(groups)
    if len(group_by_example) != examples:
        raise ValueError(
            f"Expected argument `groups` to have a value for each of {examples} examples, but got "
            f"{len(group_by_example)}."
        )
    try:
        numbers = {group: number for number, group in enumerate(dict.fromkeys(group_by_example))}
    except TypeError as error:
        raise TypeError(
            f"Expected argument `groups` to contain hashable values, but got {error}."
        ) from error
    return np.array([numbers[group] for group in group_by_example], dtype=np.int64)
