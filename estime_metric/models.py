"""The encoders that this project knows: the bundled ones and the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING

from estime_metric.config import (
    EMBEDDED_DISTANCE,
    EMBEDDED_MODEL,
    EMBEDDED_SMALL_MODEL,
    PAPER,
    PAPER_DEPTH,
    PAPER_DISTANCE,
    PAPER_LAYER,
)

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

_LEAST = 3.0  # seconds that are timed at least


@dataclass(frozen=True)
class KnownModel:
    """An encoder by its name in `EstimeConfig`.

    Attributes:
        name: ``model=``.
        meaning: what it is, and what it is for.
        weights: in millions.
        size: megabytes on disk.
        bundled: whether it ships with the package; otherwise it is downloaded once.
        language, license: of its texts, and of its weights.
        layer, blocks: the layer that ESTIME reads by default, and the number of blocks.
        distance: the distance between masked units by default.
        measured: what this project has measured with the encoder at this layer and distance; empty if
            nothing was.
    """

    name: str
    meaning: str
    weights: float
    size: int
    bundled: bool
    language: str
    license: str
    layer: int
    blocks: int
    distance: int
    measured: tuple[str, ...]


MODELS = (
    KnownModel(
        name=EMBEDDED_MODEL,
        meaning="MPNet of base size, trained for ESTIME's masks; the default",
        weights=59,
        size=60,
        bundled=True,
        language="English",
        license="Apache-2.0",
        layer=5,
        blocks=5,
        distance=EMBEDDED_DISTANCE,
        measured=("SummEval", "FRANK", "AggreFact", "BUMP", "SummEdits"),
    ),
    KnownModel(
        name=EMBEDDED_SMALL_MODEL,
        meaning="small BERT, trained in the same way; for quick looks, tests and slow machines",
        weights=22.7,
        size=23,
        bundled=True,
        language="English",
        license="Apache-2.0",
        layer=5,
        blocks=6,
        distance=EMBEDDED_DISTANCE,
        measured=("SummEval", "FRANK", "AggreFact", "BUMP"),
    ),
    KnownModel(
        name=PAPER,
        meaning="the paper's encoder, bert-large-uncased-whole-word-masking; to compare with the "
        "paper's numbers",
        weights=336,
        size=1345,
        bundled=False,
        language="English",
        license="Apache-2.0",
        layer=PAPER_LAYER,
        blocks=PAPER_DEPTH,
        distance=PAPER_DISTANCE,
        measured=(),
    ),
)


@dataclass(frozen=True)
class Speed:
    """How fast an encoder is on this machine: ``load_seconds``, and ``pairs_per_second`` of the
    bundled example pairs, each of about 60 words and a source of about 130, without equal sources.
    """

    load_seconds: float
    pairs_per_second: float


def measure_speed(scorer: EstimeScorer) -> Speed:
    """Loads the encoder of a scorer and scores the example pairs for some seconds.

    Raises EncoderUnavailableError if the encoder cannot be loaded.
    """
    from estime_metric import files
    from estime_metric.examples import PATH

    pairs = files.read_pairs(PATH)
    began = perf_counter()
    scorer.load()
    load_seconds = perf_counter() - began
    scorer.score(pairs.summaries, pairs.sources)  # before the clock runs
    began = perf_counter()
    for rounds in count(1):
        sources = [f"{source} {rounds} {line}" for line, source in enumerate(pairs.sources)]
        scorer.score(pairs.summaries, sources)
        seconds = perf_counter() - began
        if seconds >= _LEAST:
            break
    return Speed(load_seconds, rounds * len(pairs) / seconds)
