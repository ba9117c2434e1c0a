"""The whole experiment: pairs in, errors put in, every measure compared, alarms located.

Axes: ``d`` pairs, ``v`` versions of each summary: clean, and with each number of errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from estime_metric.inputs import check_pairs
from estime_metric.measures import FURTHER_MEASURES, HIGHER_IS_BETTER
from estime_metric.meta.checks import Floats
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer
from estime_metric.studies.shared.scoring import Block
from estime_metric.studies.subtle_errors.agreement import Agreement, agree
from estime_metric.studies.subtle_errors.detection import REACHES, Detection, detect
from estime_metric.studies.subtle_errors.estimates import RESAMPLES, Sampler
from estime_metric.studies.subtle_errors.generator import SubtleErrors
from estime_metric.studies.subtle_errors.records import Corrupted
from estime_metric.studies.subtle_errors.sensitivity import Level, sensitivity

#: Numbers of errors: the paper's 3, fewer and more.
NUMBERS = (1, 3, 5)

#: Measures whose rise with the number of errors is shown.
SENSITIVE = ("alarms", "alarm_rate", "alarms_alltokens")

#: Summaries and their sources -> scores by name of measure, higher is better.
Baselines = Callable[[Sequence[str], Sequence[str]], Mapping[str, npt.ArrayLike]]


@dataclass(frozen=True)
class Versions:
    """All versions of the summaries as a benchmark: pairs stand for documents, numbers of errors for systems.

    Attributes:
        documents: names of the pairs.
        numbers: numbers of errors, the first 0.
        summaries: the versions of the first pair, then of the next.
        source_of_each: the source of each of them.
    """

    documents: tuple[str, ...]
    numbers: tuple[int, ...]
    summaries: tuple[str, ...]
    source_of_each: list[str]
    origin: str = "the pairs"
    digest: str = ""

    def __len__(self) -> int:
        return len(self.summaries)

    @property
    def systems(self) -> tuple[str, ...]:
        """The numbers of errors as text."""
        return tuple(map(str, self.numbers))

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Pair and number of errors of each version."""
        return [(document, system) for document in self.documents for system in self.systems]


@dataclass(frozen=True)
class Study:
    """What came out.

    Attributes:
        corrupted: each summary with all its errors.
        numbers: the numbers of errors.
        scores: measure -> float64 of shape (d, 1 + numbers): the clean version, then one for each number; higher is
            better, ``(-)`` in front of the name where the measure was negated.
        agreements: number of errors -> a row for each measure, over the pairs that have that many errors.
        levels: measure -> its rise with the number of errors, over the pairs that have all of them.
        detections: number of errors -> where the alarms fell, over the pairs that have that many.
        layer: the layer of ``levels`` and ``detections``.
        generator: signature of the errors.
        scorer: signature of the scores.
        notes: what has to be known of scores from files.
    """

    corrupted: list[Corrupted]
    numbers: tuple[int, ...]
    scores: dict[str, Floats]
    agreements: dict[int, list[Agreement]]
    levels: dict[str, list[Level]]
    detections: dict[int, list[Detection]]
    layer: int
    generator: str
    scorer: str
    notes: tuple[str, ...] = ()

    def complete(self, number: int) -> list[int]:
        """Indices of the pairs whose summary has that many errors."""
        return _complete(self.corrupted, number)


def run(
    sources: Sequence[str],
    summaries: Sequence[str],
    corrupt: SubtleErrors,
    scorer: EstimeScorer,
    *,
    numbers: Sequence[int] = NUMBERS,
    baselines: Baselines | None = None,
    own: Sequence[Block] = (),
    names: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    progress: bool = False,
) -> Study:
    """Runs the experiment of section 4.

    Args:
        sources, summaries: the pairs; the summaries are taken to be free of errors.
        corrupt: makes the errors, ``max(numbers)`` of them.
        scorer: scores the summaries; of several layers the first one's alarms are located. It has to compute
            ``alarms_alltokens``, ``soft`` and ``coherence``.
        numbers: numbers of errors, ascending.
        baselines: other measures to compare with.
        own: scores from files, see `own_scores.own_blocks`: their documents are the ``names`` of the pairs, their
            systems the numbers of errors, 0 for the clean summary.
        names: a name for each pair; its index where left out.
        resamples: resamples of the pairs for the 95% intervals.
        seed: of the resamples and of the paired test.
        progress: show progress bars on stderr.

    Raises:
        TypeError, ValueError: a bad argument; the message names it.
        EncoderUnavailableError: an encoder cannot be loaded.

    Source: Vasilyev & Bohannon 2021, section 4.
    """
    texts, originals = check_pairs(sources, summaries, "sources", "summaries")
    numbers = _check_numbers(numbers, corrupt)
    for wanted in FURTHER_MEASURES:
        if wanted in HIGHER_IS_BETTER and wanted not in scorer.config.measures:
            raise ValueError(f"Expected argument `scorer` to compute {wanted!r}, but it does not.")
    corrupted = corrupt(originals, progress=progress)
    versions = [one.first(number).text for one in corrupted for number in (0, *numbers)]
    repeated = [text for text in texts for _ in range(1 + len(numbers))]
    result = scorer.score(versions, repeated, progress=progress)
    shape = (len(texts), 1 + len(numbers))
    scores = {name: values.reshape(shape) for name, values in _estime_scores(result).items()}
    if baselines is not None:
        for name, values in baselines(versions, repeated).items():
            scores[name] = np.asarray(values, dtype=np.float64).reshape(shape)
    versions_of = Versions(
        tuple(map(str, names if names is not None else range(len(texts)))), (0, *numbers), tuple(versions), repeated
    )
    notes: list[str] = []
    for block in own:
        prepared = block.prepare()
        columns = prepared.compute(versions_of, lambda _: None)
        notes += prepared.notes(versions_of)
        for measure in block.measures:
            values = columns[measure.column].reshape(shape)
            scores[measure.label] = -values if measure.lower_is_better else values
    layer = result.layers[0]
    return Study(
        corrupted=corrupted,
        numbers=numbers,
        scores=scores,
        agreements={
            number: _agreements(scores, index, number, _complete(corrupted, number), resamples, seed)
            for index, number in enumerate(numbers, start=1)
        },
        levels={
            measure: _levels(result.values(measure, layer).numpy().reshape(shape), corrupted, numbers, resamples, seed)
            for measure in SENSITIVE
        },
        detections=_detections(texts, corrupted, scorer, numbers, layer, resamples, seed, progress),
        layer=layer,
        generator=corrupt.signature,
        scorer=result.signature,
        notes=tuple(notes),
    )


def _estime_scores(result: EstimeResult) -> dict[str, Floats]:
    """ESTIME's measures in the paper's notation, higher is better; the alarms are ``(-)ESTIME-layer``."""
    scores = {}
    for layer in result.layers:
        for measure, higher in HIGHER_IS_BETTER.items():
            values = result.values(measure, layer).numpy()
            name = f"ESTIME-{layer}" if measure == "alarms" else f"ESTIME-{layer} {measure}"
            scores[name if higher else f"(-){name}"] = values if higher else -values
    return scores


def _agreements(
    scores: Mapping[str, Floats], index: int, number: int, pairs: list[int], resamples: int, seed: int
) -> list[Agreement]:
    """A row for each measure; one that lacks a score for some pairs stands over the others, as the first one does."""
    first = next(iter(scores))
    rows = []
    groups: dict[tuple[int, ...], list[str]] = {}
    for name, values in scores.items():
        groups.setdefault(tuple(_known(values[:, [0, index]], pairs)), []).append(name)
    for kept, names in groups.items():
        chosen = list(kept)
        sides = {
            name: (scores[name][chosen, 0], scores[name][chosen, index]) for name in dict.fromkeys([first, *names])
        }
        found = agree(sides, number, Sampler(len(chosen), resamples, seed), seed)
        rows += [row for row in found if row.measure in names]
    order = list(scores)
    return sorted(rows, key=lambda row: order.index(row.measure))


def _levels(
    values: Floats, corrupted: list[Corrupted], numbers: tuple[int, ...], resamples: int, seed: int
) -> list[Level]:
    """The rise of a measure over the pairs that have all errors and a score in every version."""
    pairs = _known(values, _complete(corrupted, numbers[-1]))
    return sensitivity(values[pairs], (0, *numbers), Sampler(len(pairs), resamples, seed))


def _known(values: Floats, pairs: list[int]) -> list[int]:
    """The pairs of which every version has a score."""
    return [pair for pair in pairs if np.isfinite(values[pair]).all()]


def _detections(
    sources: list[str],
    corrupted: list[Corrupted],
    scorer: EstimeScorer,
    numbers: tuple[int, ...],
    layer: int,
    resamples: int,
    seed: int,
    progress: bool,
) -> dict[int, list[Detection]]:
    versions = [one.first(number) for one in corrupted for number in (0, *numbers)]
    repeated = [text for text in sources for _ in range(1 + len(numbers))]
    texts = [version.text for version in versions]
    explanations = scorer.explain_pairs(texts, repeated, layer=layer, progress=progress)
    width, found = 1 + len(numbers), {}
    for index, number in enumerate(numbers, start=1):
        pairs = _complete(corrupted, number)
        found[number] = detect(
            [versions[pair * width + index] for pair in pairs],
            [explanations[pair * width + index] for pair in pairs],
            [explanations[pair * width] for pair in pairs],
            reaches=REACHES,
            resamples=resamples,
            seed=seed,
        )
    return found


def _complete(corrupted: Sequence[Corrupted], number: int) -> list[int]:
    return [index for index, one in enumerate(corrupted) if len(one.errors) >= number]


def _check_numbers(numbers: Sequence[int], corrupt: SubtleErrors) -> tuple[int, ...]:
    found = tuple(numbers)
    if not found or list(found) != sorted(set(found)) or found[0] < 1 or found[-1] != corrupt.n_errors:
        raise ValueError(
            f"Expected argument `numbers` to ascend from at least 1 to the {corrupt.n_errors} errors that are made, "
            f"but got {found}."
        )
    return found
