"""ESTIME as a reward function for TRL's ``GRPOTrainer`` and the trainers that take the same functions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from estime_metric.inputs import check_choice
from estime_metric.integrations.judging import Judge
from estime_metric.scorer import EstimeScorer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from estime_metric.config import EstimeOptions

#: Measures between 0 and 1 of which lower is better.
RATES = ("unsupported_rate", "alarm_rate")

_WORD = re.compile(r"\w+")


class EstimeReward:
    """What `estime_reward` returns: a reward function as TRL calls it."""

    __name__ = "estime_reward"  # under which TRL logs it

    def __init__(self, judge: Judge, source: str, rate: str, copy_penalty: float, free_copy: int) -> None:
        check_choice("rate", rate, RATES)
        if not 0 <= copy_penalty < math.inf:
            raise ValueError(f"Expected argument `copy_penalty` to be at least 0, but got {copy_penalty!r}.")
        if free_copy < 0:
            raise ValueError(f"Expected argument `free_copy` to be at least 0, but got {free_copy!r}.")
        self.judge = judge
        self.source = source
        self.rate = rate
        self.copy_penalty = copy_penalty
        self.free_copy = free_copy

    @property
    def worst(self) -> float:
        """The reward of an empty completion; no other is lower."""
        return -1.0 - self.copy_penalty

    @property
    def signature(self) -> str:
        """The signature of the scores; loads the encoder."""
        return self.judge.signature

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """The reward of each completion, from one call of the scorer.

        Raises:
            ValueError: there is no column of the sources.
        """
        if self.source not in columns:
            raise ValueError(f"Expected a data set with the column {self.source!r}, which `source` names.")
        summaries, sources = [_text(completion) for completion in completions], columns[self.source]
        result = self.judge.score(summaries, sources)
        rates, tokens = result.values(self.rate).tolist(), result.values("tokens").tolist()
        copied = [copied_share(*pair, self.free_copy) for pair in zip(summaries, sources, strict=True)]
        log = columns.get("log_metric")  # as TRL passes it
        if callable(log) and summaries:
            log("estime/alarms", result.mean("alarms"))
            log("estime/copied", sum(copied) / len(copied))
        return [
            -(1.0 if math.isnan(rate) else rate) - self.copy_penalty * share if count else self.worst
            for rate, share, count in zip(rates, copied, tokens, strict=True)
        ]


def estime_reward(
    source: str = "source",
    *,
    rate: str = "unsupported_rate",
    copy_penalty: float = 1.0,
    free_copy: int = 12,
    scorer: EstimeScorer | None = None,
    **options: Unpack[EstimeOptions],
) -> EstimeReward:
    """A reward function: minus the rate of what the source does not support, minus a penalty for copying.

    The reward is ``-rate - copy_penalty * copied_share`` and lies between ``-1 - copy_penalty`` and 0; higher is
    better. An empty completion gets the lowest, one in which nothing could be checked counts as a rate of 1.

    Args:
        source: the column of the data set that holds the sources.
        rate: ``"unsupported_rate"``: alarms and units that the source lacks, of all units; or ``"alarm_rate"``: alarms
            of the units that were checked, which leaves words of the model's own unpunished.
        copy_penalty: what a completion loses that is one verbatim run of its source; 0 for no guard.
        free_copy: words of a verbatim run that are free, as names and quotations need; see `copied_share`.
        scorer: an `EstimeScorer` to share with a metric of the validation loop; ``None`` makes one from ``options``.
        options: options of `EstimeConfig`, of ``layers`` no more than one.

    Raises:
        TypeError, ValueError: a bad option; the message names it.

    Example:
        >>> reward = estime_reward(rate="alarm_rate", model="embedded")
        >>> source = "A cat slept in the sun while a dog barked."
        >>> reward(completions=["", "A cat slept."], source=[source] * 2)[0]
        -2.0
    """
    return EstimeReward(Judge(scorer, **options), source, rate, copy_penalty, free_copy)


def copied_share(summary: str, source: str, free: int = 12) -> float:
    """The share of a summary that its longest verbatim run takes: words in a row that stand so in the source.

    Args:
        summary, source: the texts; case and punctuation do not count.
        free: a run of so many words or fewer counts as none.

    Returns:
        0 to 1.

    Example:
        >>> copied_share("The cat slept. Nobody saw it.", "While the cat slept, a dog barked.", free=2)
        0.5
    """
    own, other = _WORD.findall(summary.lower()), _WORD.findall(source.lower())
    longest = SequenceMatcher(None, own, other, autojunk=False).find_longest_match().size
    return longest / len(own) if longest > free else 0.0


def _text(completion: Any) -> str:
    """A completion's text: it is one, or a list of messages of which the last is the model's answer."""
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    if isinstance(content, str) or content is None:
        return content or ""
    return "".join(part.get("text", "") for part in content if isinstance(part, Mapping))
