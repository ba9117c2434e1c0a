"""The whole experiment: pairs in, errors put in, every measure compared, alarms located.

Axes: ``d`` pairs, ``v`` versions of each summary: clean, and with each number of errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from estime_metric.config import ALL_UNIT_MEASURES, HIGHER_IS_BETTER
from estime_metric.inputs import check_pairs
from estime_metric.meta.checks import Floats
from estime_metric.result import EstimeResult
from estime_metric.scorer import EstimeScorer
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
        resamples: resamples of the pairs for the 95% intervals.
        seed: of the resamples and of the paired test.
        progress: show progress bars on stderr.

    Raises:
        TypeError, ValueError: a bad argument; the message names it.
        EncoderUnavailableError: an encoder cannot be had.

    Source: Vasilyev & Bohannon 2021, section 4.
    """
    texts, originals = check_pairs(sources, summaries, "sources", "summaries")
    numbers = _check_numbers(numbers, corrupt)
    for measure in ALL_UNIT_MEASURES:
        if measure not in scorer.config.measures:
            raise ValueError(f"Expected argument `scorer` to compute {measure!r}, but it does not.")
    corrupted = corrupt(originals, progress=progress)
    versions = [one.first(number).text for one in corrupted for number in (0, *numbers)]
    repeated = [text for text in texts for _ in range(1 + len(numbers))]
    result = scorer.score(versions, repeated, progress=progress)
    shape = (len(texts), 1 + len(numbers))
    scores = {name: values.reshape(shape) for name, values in _estime_scores(result).items()}
    if baselines is not None:
        for name, values in baselines(versions, repeated).items():
            scores[name] = np.asarray(values, dtype=np.float64).reshape(shape)
    layer = result.layers[0]
    everyone = Sampler(len(_complete(corrupted, numbers[-1])), resamples, seed)
    return Study(
        corrupted=corrupted,
        numbers=numbers,
        scores=scores,
        agreements={
            number: _agreements(scores, place, number, _complete(corrupted, number), resamples, seed)
            for place, number in enumerate(numbers, start=1)
        },
        levels={
            measure: sensitivity(
                result.values(measure, layer).numpy().reshape(shape)[_complete(corrupted, numbers[-1])],
                (0, *numbers),
                everyone,
            )
            for measure in SENSITIVE
        },
        detections=_detections(texts, corrupted, scorer, numbers, layer, resamples, seed, progress),
        layer=layer,
        generator=corrupt.signature,
        scorer=result.signature,
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
    scores: Mapping[str, Floats], place: int, number: int, pairs: list[int], resamples: int, seed: int
) -> list[Agreement]:
    sampler = Sampler(len(pairs), resamples, seed)
    return agree(
        {name: (values[pairs, 0], values[pairs, place]) for name, values in scores.items()}, number, sampler, seed
    )


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
    for place, number in enumerate(numbers, start=1):
        pairs = _complete(corrupted, number)
        found[number] = detect(
            [versions[pair * width + place] for pair in pairs],
            [explanations[pair * width + place] for pair in pairs],
            [explanations[pair * width] for pair in pairs],
            reaches=REACHES,
            resamples=resamples,
            seed=seed,
        )
    return found


def _complete(corrupted: Sequence[Corrupted], number: int) -> list[int]:
    return [place for place, one in enumerate(corrupted) if len(one.errors) >= number]


def _check_numbers(numbers: Sequence[int], corrupt: SubtleErrors) -> tuple[int, ...]:
    found = tuple(numbers)
    if not found or list(found) != sorted(set(found)) or found[0] < 1 or found[-1] != corrupt.n_errors:
        raise ValueError(
            f"Expected argument `numbers` to ascend from at least 1 to the {corrupt.n_errors} errors that are made, "
            f"but got {found}."
        )
    return found
