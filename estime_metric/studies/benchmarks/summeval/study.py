"""SummEval, from its measures to its plots, for
`estime_metric.studies.benchmarks.shared.study.run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from estime_metric.report.tables import Table
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared import baselines
from estime_metric.studies.benchmarks.shared.bertscore import bertscore_block
from estime_metric.studies.benchmarks.shared.blocks import Block
from estime_metric.studies.benchmarks.shared.estime_block import estime_block
from estime_metric.studies.benchmarks.shared.frames import Frames
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.benchmarks.summeval import plots, statistics, tables
from estime_metric.studies.benchmarks.summeval.data import SummEval
from estime_metric.validation import check_choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SummEvalStudy:
    """The study of SummEval.

    Attributes:
        options: options of `EstimeConfig` except ``unit``.
        units: some of ``token`` and ``word``, each once (otherwise ValueError in `blocks`).
        combine: how several references become one value, one of `baselines.COMBINE`.
        bert_model, bert_layer: arguments of `BertScorer`; ``None`` omits BERTScore.
        progress: whether the scorer shows its own bar.
    """

    options: Mapping[str, Any]
    units: Sequence[str] = ("token",)
    combine: str = "mean"
    bert_model: str | None = None
    bert_layer: int | None = None
    progress: bool = False

    def blocks(self, data: SummEval | None = None) -> list[Block]:
        """ESTIME with each unit, then the other measures. The encoder is loaded, so that a bad
        option is known before anything is computed. Errors as `EstimeScorer`, and ValueError for
        ``units`` and ``combine``.
        """
        if not self.units or len(set(self.units)) < len(self.units):
            raise ValueError(
                f"Expected argument `units` to name each unit once, but got {', '.join(self.units) or 'none'}."
            )
        baselines_after = self.baseline_blocks()
        ours = [
            estime_block(EstimeScorer(**self._options_for(unit)), progress=self.progress)
            for unit in self.units
        ]
        return [*ours, *baselines_after]

    def baseline_blocks(self) -> list[Block]:
        """The measures in addition to ESTIME."""
        check_choice("combine", self.combine, baselines.COMBINE)

        def references(data: SummEval) -> Sequence[Sequence[str]]:
            return data.references_of_each

        blocks = [baselines.divergence_block()]
        if self.bert_model is not None:
            blocks.append(
                bertscore_block(
                    self.bert_model,
                    references,
                    layer=self.bert_layer,
                    combine=self.combine,
                    device=self.options.get("device"),
                )
            )
        return [
            *blocks,
            baselines.bleu_block(references, self.combine),
            baselines.rouge_block(references, self.combine),
            baselines.trivial_block(),
        ]

    def analyze(self, scores: Scores[SummEval], *, resamples: int = 1000, seed: int = 0) -> Frames:
        """See `statistics.analyze`."""
        return statistics.analyze(scores, resamples=resamples, seed=seed)

    def tables(self, scores: Scores[SummEval], frames: Frames) -> list[Table]:
        """See `tables.make_tables`."""
        return tables.make_tables(scores, frames)

    def draw(
        self, scores: Scores[SummEval], frames: Frames, *, seed: int = 0
    ) -> Iterator[tuple[str, Figure]]:
        """See `plots.draw`."""
        return plots.draw(scores, frames, seed=seed)

    def _options_for(self, unit: str) -> dict[str, Any]:
        chosen = {**self.options, "unit": unit}
        if unit == "token" and self.options.get("tagger") is None:
            chosen.pop("splitter", None)  # it splits nothing
        return chosen
