"""ESTIME and its further measures as a block of a benchmark."""

from __future__ import annotations

from estime_metric.measures import HIGHER_IS_BETTER
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.shared.scoring import REFERENCE_FREE, Advance, Block, Columns, Measure, Prepared, Summaries

#: Layers of the paper's rows; they are shown of an encoder of as many blocks as the paper's.
PAPER_LAYERS, PAPER_BLOCKS = (12, 21, 24), 24


def estime_block(scorer: EstimeScorer, *, every_measure: bool = False, progress: bool = False) -> Block:
    """ESTIME with one unit, all layers in one pass; the measures that the configuration names become rows as well.

    With ``layers="all"`` only the default layer (of an encoder of 24 blocks also those of the paper's rows) stands in
    Tables 1 and 2; all stand in the table of layers. The encoder is loaded here.

    Args:
        scorer: with its configuration.
        every_measure: all measures of quality become rows; the scorer has to compute them.
        progress: the scorer's own bar, which counts by share of the work.

    Raises:
        EncoderUnavailableError, ValueError: as `EstimeScorer`.
    """
    signature, info = scorer.signature, scorer.encoder.info
    config = info.resolve(scorer.config)
    main = set(config.layer_tuple)
    if scorer.config.layers == "all":
        main = {info.layer, *(PAPER_LAYERS if info.blocks == PAPER_BLOCKS else ())}
    names = dict.fromkeys(("alarms", *(HIGHER_IS_BETTER if every_measure else ()), *config.measures))
    measures = {
        (name, layer): _estime_measure(name, layer, config.unit, layer in main)
        for name in names
        for layer in config.layer_tuple
    }

    def compute(data: Summaries, _: Advance) -> Columns:
        result = scorer.score(list(data.summaries), data.source_of_each, progress=progress)
        return {measure.column: result.values(*key).numpy() for key, measure in measures.items()}

    return Block(
        f"ESTIME by {config.unit}", tuple(measures.values()), lambda: Prepared(signature, compute, own_bar=True)
    )


def column_of(name: str, layer: int, unit: str) -> str:
    """The column of a measure of ESTIME."""
    return f"{'estime' if name == 'alarms' else name}_{unit}_{layer}"


def _estime_measure(name: str, layer: int, unit: str, main: bool) -> Measure:
    """``(-)ESTIME-21`` is the paper's name for the alarms at layer 21."""
    lower = HIGHER_IS_BETTER.get(name) is False  # what has no direction, such as `copied`, stays as it is
    label = f"{'(-)' if lower else ''}{'ESTIME' if name == 'alarms' else name}-{layer}"
    return Measure(
        column=column_of(name, layer, unit),
        label=label if unit == "token" else f"{label} {unit}",
        section=REFERENCE_FREE,
        lower_is_better=lower,
        layer=layer,
        unit=unit,
        main=main,
    )
