"""ESTIME as a reward function for TRL's ``GRPOTrainer`` and for trainers that accept the same
functions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import torch

from estime_metric.checks import check_choice, check_one_layer
from estime_metric.config import EstimeConfig
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache
from estime_metric.measures import MEASURES, RECOMMENDED
from estime_metric.scorer import EstimeScorer

if TYPE_CHECKING:
    from estime_metric.config import EstimeOptions

#: Measures between 0 and 1 for which lower is better.
RATES = tuple(
    measure.name
    for measure in MEASURES.values()
    if measure.low == 0 and measure.high == 1 and measure.higher_is_better is False
)


@dataclass(eq=False)
class EstimeReward:
    """What `estime_reward` returns: a reward function as TRL calls it."""

    scorer: EstimeScorer
    source: str
    measure: str
    copy_penalty: float
    free_copy: float

    __name__ = "estime_reward"  # under which TRL logs it

    @property
    def signature(self) -> str:
        """The signature of the scores; loads the encoder."""
        return self.scorer.signature

    @property
    def worst(self) -> float:
        """The reward of an empty completion; no other is lower."""
        return -1.0 - self.copy_penalty

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """The reward of each completion, from one call of the scorer; ValueError if the column of
        the sources is missing.
        """
        if self.source not in columns:
            raise ValueError(
                f"Expected the dataset to have the column {self.source!r} that `source` refers to."
            )
        summaries = [_text(completion) for completion in completions]
        sources = columns[self.source]
        result = self.scorer.score(summaries, sources)
        log = columns.get("log_metric")  # as TRL passes it
        if callable(log) and summaries:
            for measure in (self.measure, "copied_density", "alarms"):
                if not result.values(measure).isnan().all():  # TRL's mean would be NaN too
                    log(f"estime/{measure}", result.mean(measure))
            log("estime/blank", len(result.blank_indices))
        values = result.values(self.measure).nan_to_num(1.0)
        copies = result.values("copied_density") > self.free_copy
        penalties = torch.where(copies, self.copy_penalty * result.values("coverage"), 0.0)
        rewards = -values - penalties
        blank = result.values("blank") > 0
        return [*torch.where(blank, self.worst, rewards).tolist()]


def estime_reward(
    source: str = "source",
    *,
    measure: str = RECOMMENDED,
    copy_penalty: float = 1.0,
    free_copy: float = 10,
    scorer: EstimeScorer | None = None,
    cache: int | SourceCache | None = DEFAULT_CACHE,
    **options: Unpack[EstimeOptions],
) -> EstimeReward:
    """A reward function: minus a share of inconsistent tokens, minus a penalty for copying.

    The reward is ``-measure``, and ``-measure - copy_penalty * coverage`` if ``copied_density``
    exceeds ``free_copy``. It ranges from ``-1 - copy_penalty`` to 0; higher is better. An empty
    completion gets the lowest reward. If the measure is undefined, it counts as 1.

    Args:
        source: the column of the dataset that contains the sources.
        measure: ``"inconsistency"``, or another measure between 0 and 1 for which lower is better;
            ``"alarm_rate"`` considers only units that occur in the source, so the model is not
            penalized for using its own words.
        copy_penalty: penalty for a completion that is copied entirely from its source. Use 0 to
            disable the penalty.
        free_copy: copying is not penalized as long as ``copied_density`` (the mean length, in words,
            of the copied run that a word belongs to) is at most this value. This leaves room for
            names and quotations.
        scorer: an `EstimeScorer` of the validation loop, whose configuration, encoder and cache are
            used too.
        cache: as in `ESTIME`, unless there is a ``scorer``.
        options: options of `EstimeConfig`, which override those of ``scorer``. Only one layer is
            supported.

    Raises:
        TypeError, ValueError: an option is invalid; the message names it.
    """
    check_choice("measure", measure, RATES)
    if not 0 <= copy_penalty < math.inf:
        raise ValueError(
            f"Expected argument `copy_penalty` to be at least 0, but got {copy_penalty!r}."
        )
    if not free_copy >= 0:  # nor NaN
        raise ValueError(f"Expected argument `free_copy` to be at least 0, but got {free_copy!r}.")
    config = None
    if scorer is not None:
        config, cache = scorer.config, scorer.cache
    config = EstimeConfig.from_options(config, options)
    check_one_layer(config.layers)
    return EstimeReward(
        scorer=EstimeScorer(config, measures=(*config.measures, measure), cache=cache),
        source=source,
        measure=measure,
        copy_penalty=copy_penalty,
        free_copy=free_copy,
    )


def _text(completion: Any) -> str:
    """The text of a completion, which is a text or a list of messages that ends in the model's
    answer.
    """
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    if isinstance(content, str) or content is None:
        return content or ""
    return "".join(part.get("text", "") for part in content if isinstance(part, Mapping))
