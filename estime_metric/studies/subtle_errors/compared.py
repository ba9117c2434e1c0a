"""Reference-free measures to compare with: the one of the paper's that needs no model, and trivial ones."""

from __future__ import annotations

from collections.abc import Sequence

from estime_metric.meta.checks import Floats
from estime_metric.studies.shared import baselines


def reference_free(summaries: Sequence[str], sources: Sequence[str]) -> dict[str, Floats]:
    """Scores of summaries by simple measures, higher is better; ``(-)`` in front where the measure is negated.

    The Jensen-Shannon divergence is in the paper's Table 3. ROUGE is taken against the source in place of a reference.
    A word that the source does not have is counted by ``absent words``; length is what no measure should go by.

    Raises:
        ImportError: the extra ``meta`` is not installed.
        ValueError: the lengths differ.
    """
    rouge = baselines.rouge(summaries, [[source] for source in sources])
    return {
        "(-)J-Shannon": -baselines.jensen_shannon(summaries, sources),
        "(-)absent words": -baselines.absent_words(summaries, sources),
        "(-)length": -baselines.length(summaries),
        **{f"{name}, source": values for name, values in rouge.items()},
    }
