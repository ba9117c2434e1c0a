"""ESTIME and its further measures as a block of a benchmark."""

from __future__ import annotations

from estime_metric.measures import HIGHER_IS_BETTER
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.benchmarks.shared.scoring import (
    REFERENCE_FREE,
    Advance,
    Block,
    Columns,
    Measure,
    Summaries,
)

#: Layers of the paper's rows; they are shown of an encoder of as many blocks as the paper's.
PAPER_LAYERS, PAPER_BLOCKS = (12, 21, 24), 24


def estime_block(
    scorer: EstimeScorer, *, every_measure: bool = False, progress: bool = False
) -> Block:
    """ESTIME with one unit, all layers in one pass; the measures that the configuration names
    become rows as well.

    With ``layers="all"`` only the default layer (of an encoder of 24 blocks also the paper's)
    stands in the main tables. With ``every_measure`` all measures of quality become rows; the
    scorer has to compute them. ``progress`` is the scorer's own bar. The encoder is loaded here;
    EncoderUnavailableError, ValueError as `EstimeScorer`.
    """
    signature, info = scorer.signature, scorer.encoder.info
    config = info.resolve(scorer.config)
    main = set(config.layer_tuple)
    if scorer.config.layers == "all":
        main = {info.layer, *(PAPER_LAYERS if info.blocks == PAPER_BLOCKS else ())}
    names = dict.fromkeys(
        ("alarms", *(HIGHER_IS_BETTER if every_measure else ()), *config.measures)
    )
    measures = {}
    for name in names:
        lower = (
            HIGHER_IS_BETTER.get(name) is False
        )  # what has no direction, such as `copied`, stays as it is
        shown = f"{'(-)' if lower else ''}{'ESTIME' if name == 'alarms' else name}"  # (-)ESTIME-21 is the paper's name
        for layer in config.layer_tuple:
            label = (
                f"{shown}-{layer}" if config.unit == "token" else f"{shown}-{layer} {config.unit}"
            )
            column = column_of(name, layer, config.unit)
            measures[name, layer] = Measure(
                column,
                label,
                REFERENCE_FREE,
                lower,
                layer=layer,
                unit=config.unit,
                main=layer in main,
            )

    def compute(data: Summaries, _: Advance) -> Columns:
        result = scorer.score(list(data.summaries), data.source_of_each, progress=progress)
        return {measure.column: result.values(*key).numpy() for key, measure in measures.items()}

    return Block(
        f"ESTIME by {config.unit}",
        tuple(measures.values()),
        lambda: (signature, compute),
        own_bar=True,
    )


def column_of(name: str, layer: int, unit: str) -> str:
    """The column of a measure of ESTIME."""
    return f"{'estime' if name == 'alarms' else name}_{unit}_{layer}"
