"""ESTIME and its further measures as a block of a benchmark."""

from __future__ import annotations

from estime_metric.measures import FURTHER_MEASURES, HIGHER_IS_BETTER, PAPER_MEASURE, RECOMMENDED
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.baselines import OF_TEXTS
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_FREE,
    Block,
    ColumnValues,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import Summaries

#: Layers of the paper's rows; they are shown for an encoder with as many blocks as the paper's.
PAPER_LAYERS, PAPER_BLOCKS = (12, 21, 24), 24


def estime_block(
    scorer: EstimeScorer,
    *,
    every_measure: bool = False,
    setting: str = "",
    progress: bool = False,
) -> Block:
    """ESTIME in one setting, all layers in one pass: alarms, `RECOMMENDED`, and the measures that the
    configuration names.

    With ``layers="all"``, only the default layer is in the main tables (with an encoder of 24 blocks
    also the paper's layers), and `RECOMMENDED` is computed only for these layers. With
    ``every_measure``, all measures of quality that the scorer computes become rows, in the order in
    which they should be read, except `OF_TEXTS`, which the trivial baselines have. ``setting`` says
    what differs from the first setting, if this is a second one. ``progress`` shows the scorer's own
    bar. Loads the encoder; EncoderUnavailableError, ValueError as `EstimeScorer`.
    """
    info = scorer.encoder.info
    config = info.resolve(scorer.config)
    main_layers = set(config.layer_tuple)
    if scorer.config.layers == "all":
        main_layers = {info.layer, *(PAPER_LAYERS if info.blocks == PAPER_BLOCKS else ())}
    names = dict.fromkeys((PAPER_MEASURE, RECOMMENDED, *config.measures))
    if every_measure:
        not_computed = {*FURTHER_MEASURES} - {*config.measures}
        judging = (name for name in HIGHER_IS_BETTER if name not in {*OF_TEXTS, *not_computed})
        names = dict.fromkeys((*judging, *config.measures))
    columns = tuple(
        ScoreColumn(
            name=column_of(name, layer, config.unit, setting),
            label=_label_of(name, layer, config.unit, setting, info.blocks),
            section=REFERENCE_FREE,
            lower_is_better=_is_negated(name),
            measure=name,
            layer=layer,
            blocks=info.blocks,
            setting=setting,
            main=layer in main_layers,
        )
        for name in names
        for layer in config.layer_tuple
        if layer in main_layers or name != RECOMMENDED
    )

    def compute(data: Summaries) -> ColumnValues:
        result = scorer.score(data.summaries, data.sources, progress=progress)
        return {
            column.name: result.values(str(column.measure), column.layer).numpy()
            for column in columns
        }

    prepared = Prepared(scorer.signature, compute)
    block_name = f"ESTIME by {config.unit}{f', {setting}' if setting else ''}"
    return Block(block_name, columns, lambda: prepared)


def _is_negated(name: str) -> bool:
    """Whether lower is better; a measure without a direction is not negated."""
    return HIGHER_IS_BETTER.get(name) is False


def _label_of(name: str, layer: int, unit: str, setting: str, blocks: int) -> str:
    """The label of a measure's row, such as ``(-)alarms-5``. With an encoder that has as many blocks as
    the paper's, the alarms are called as in its tables, ``(-)ESTIME-21``.
    """
    negated = "(-)" if _is_negated(name) else ""
    is_printed = name == PAPER_MEASURE and blocks == PAPER_BLOCKS
    label = f"{negated}{'ESTIME' if is_printed else name}-{layer}"
    if setting:
        return f"{label} ({setting})"
    return label if unit == "token" else f"{label} {unit}"


def column_of(name: str, layer: int, unit: str, setting: str) -> str:
    """The column of a measure of ESTIME."""
    column = f"{'estime' if name == 'alarms' else name}_{unit}_{layer}"
    return f"{column} ({setting})" if setting else column
