"""The paper's Table 3: does a measure tell clean summaries (1) from corrupted ones (0)?

Axes: ``d`` pairs, ``n`` resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from estime_metric.meta.checks import Floats, finite
from estime_metric.meta.concordance import METHODS, Tally, tally
from estime_metric.meta.paired import approximate_randomization
from estime_metric.studies.subtle_errors.estimates import Estimate, Sampler, divide, estimate

#: Rows of Table 3 as printed: measure, Spearman's rho, Kendall's tau-c. 2,000 pairs of CNN/DailyMail, 3 errors each.
PAPER_TABLE_3 = (
    ("BLANC-AXXL", 0.036, 0.042),
    ("BLANC-BLU", 0.076, 0.087),
    ("(-)ESTIME-12", 0.138, 0.159),
    ("(-)ESTIME-21", 0.163, 0.188),
    ("(-)ESTIME-24", 0.169, 0.195),
    ("(-)J-Shannon", 0.048, 0.055),
    ("SummaQA-F1", 0.055, 0.064),
    ("SummaQA-P", 0.054, 0.062),
    ("SUPERT", 0.107, 0.123),
)


@dataclass(frozen=True)
class Agreement:
    """How well one measure tells clean from corrupted.

    Attributes:
        pairs: number of clean summaries, and of corrupted ones.
        spearman, kendall_c: correlation with the labels over all summaries; -1 to 1, higher is better.
        behind: how much lower its Spearman correlation is than that of the first measure.
        auc: area under the ROC curve, the chance that a clean summary scores higher than a corrupted one of any pair,
            ties half; 0 to 1, 0.5 for no better than chance.
        preferred: the same within pairs: share of the pairs in which the clean one scores higher, ties half.
        p_value: paired test, two-sided, of the mean difference within pairs by approximate randomisation.
    """

    pairs: int
    spearman: Estimate
    kendall_c: Estimate
    behind: Estimate
    auc: Estimate
    preferred: Estimate
    p_value: float


def agree(scores: Mapping[str, Sequence[npt.ArrayLike]], sampler: Sampler, seed: int = 0) -> dict[str, Agreement]:
    """Compares the scores of clean summaries with those of the same summaries with errors.

    Args:
        scores: measure -> its scores of the clean summaries and of the corrupted ones, of shape (d,) each, higher is
            better.
        sampler: resamples the ``d`` pairs for the 95% intervals, the same for all measures.
        seed: of the paired test.

    Returns:
        By measure. A correlation is NaN where a measure gives all summaries the same score.

    Raises:
        TypeError, ValueError: the scores are no numbers, not finite, or of two lengths.

    Source: Vasilyev & Bohannon 2021, section 4.
    """
    weights = np.concatenate([np.ones((1, sampler.pairs)), sampler.weights])  # (1 + n, d)
    found: dict[str, Agreement] = {}
    first: Floats | None = None
    for measure, sides in scores.items():
        clean, corrupted = (finite(f"scores of {measure}", side, 1) for side in sides)
        if not len(clean) == len(corrupted) == sampler.pairs:
            raise ValueError(
                f"Expected argument `scores` to hold {sampler.pairs} scores of each kind, but {measure!r} has "
                f"{len(clean)} and {len(corrupted)}."
            )
        labels = np.repeat([1.0, 0.0], sampler.pairs)
        counts = tally(np.concatenate([weights, weights], axis=1), np.concatenate([clean, corrupted]), labels)
        spearman = METHODS["spearman"](counts)
        first = spearman if first is None else first
        found[measure] = Agreement(
            pairs=sampler.pairs,
            spearman=estimate(spearman),
            kendall_c=estimate(METHODS["kendall_c"](counts)),
            behind=estimate(first - spearman),
            auc=estimate(area(counts)),
            preferred=sampler.mean((np.sign(clean - corrupted) + 1) / 2),
            p_value=approximate_randomization(clean, corrupted, seed=seed).p_value if sampler.pairs else 1.0,
        )
    return found


def area(counts: Tally) -> Floats:
    """Area under the ROC curve from counts of pairs; the judgements are two classes."""
    return divide(counts.ordered_judgements + counts.balance, 2 * counts.ordered_judgements)
