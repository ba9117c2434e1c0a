"""ESTIME as a reward function for TRL's ``GRPOTrainer`` and the trainers that take the same
functions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from estime_metric.inputs import check_choice
from estime_metric.integrations.judging import Judge, Judged
from estime_metric.measures import MEASURES, RECOMMENDED
from estime_metric.scorer import EstimeScorer

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from estime_metric.config import EstimeOptions

#: Measures between 0 and 1 of which lower is better.
RATES = tuple(
    name
    for name, each in MEASURES.items()
    if (each.low, each.high, each.higher_is_better) == (0, 1, False)
)


@dataclass(eq=False)
class EstimeReward(Judged):
    """What `estime_reward` returns: a reward function as TRL calls it."""

    source: str
    measure: str
    copy_penalty: float
    free_copy: int

    __name__ = "estime_reward"  # under which TRL logs it

    @property
    def worst(self) -> float:
        """The reward of an empty completion; no other is lower."""
        return -1.0 - self.copy_penalty

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """The reward of each completion, from one call of the scorer; ValueError without a column
        of the sources.
        """
        if self.source not in columns:
            raise ValueError(
                f"Expected a data set with the column {self.source!r}, which `source` names."
            )
        summaries, sources = [_text(completion) for completion in completions], columns[self.source]
        result = self.judge.scorer.score(summaries, sources)
        log = columns.get("log_metric")  # as TRL passes it
        if callable(log) and summaries:
            log("estime/alarms", result.mean("alarms"))
            log("estime/blank", len(result.blank))
            log("estime/copied", result.mean("copied"))
        values = result.values(self.measure).nan_to_num(1.0)
        copied = torch.where(
            result.values("copied_density") > self.free_copy, result.values("copied"), 0.0
        )
        rewards = -values - self.copy_penalty * copied
        found: list[float] = torch.where(result.values("blank") > 0, self.worst, rewards).tolist()
        return found


def estime_reward(
    source: str = "source",
    *,
    measure: str = RECOMMENDED,
    copy_penalty: float = 1.0,
    free_copy: int = 12,
    scorer: EstimeScorer | None = None,
    **options: Unpack[EstimeOptions],
) -> EstimeReward:
    """A reward function: minus a share of inconsistent tokens, minus a penalty for copying.

    The reward is ``-measure - copy_penalty * copied`` and lies between ``-1 - copy_penalty`` and 0;
    higher is better. An empty completion gets the lowest; where the measure is undefined, it counts
    as 1.

    Args:
        source: the column of the data set that holds the sources.
        measure: ``"inconsistency"``, or another share of which lower is better; ``"alarm_rate"``
            counts only units that occur in the source, which leaves words of the model's own
            unpunished.
        copy_penalty: what a completion loses that is copied from its source as a whole; 0 for no
            guard.
        free_copy: ``copied_density`` up to which copying is free, as names and quotations need: the
            mean length, in units, of the copied run that a unit stands in.
        scorer: an `EstimeScorer` to share with a metric of the validation loop; ``None`` makes one
            from ``options``.
        options: options of `EstimeConfig`, of ``layers`` no more than one.

    Raises:
        TypeError, ValueError: a bad option; the message names it.
    """
    judge = Judge(scorer, measures=(measure, "copied", "copied_density"), **options)
    check_choice("measure", measure, RATES)
    if not 0 <= copy_penalty < math.inf:
        raise ValueError(
            f"Expected argument `copy_penalty` to be at least 0, but got {copy_penalty!r}."
        )
    if free_copy < 0:
        raise ValueError(f"Expected argument `free_copy` to be at least 0, but got {free_copy!r}.")
    return EstimeReward(judge, source, measure, copy_penalty, free_copy)


def _text(completion: Any) -> str:
    """A completion's text: it is one, or a list of messages of which the last is the model's
    answer.
    """
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    if isinstance(content, str) or content is None:
        return content or ""
    return "".join(part.get("text", "") for part in content if isinstance(part, Mapping))
