"""What a job reads, how it writes, and the sums that it keeps of what it has scored."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric import files
from estime_metric.inputs import integer

if TYPE_CHECKING:
    from estime_metric.result import EstimeResult
    from estime_metric.scorer import EstimeScorer

PAIRS = 256  # in a chunk, at most, where `Job.look_ahead` is left open

#: Work of a chunk, in floating-point operations of the encoder: about half a minute of two cores of
#: a server, and how many times as much on a GPU. A constant, no measured speed: equal inputs have
#: equal chunks whatever the clock says.
WORK, _FASTER = 6e12, 100

BYTES = 32_000_000  # of text in a chunk, at most: bounds the memory where texts are books
_TOKEN = 4  # bytes of text that make a token, about
_NAMED = 10  # lines that are named before pairs are only counted


@dataclass(frozen=True, kw_only=True)
class Job:
    """Which files are scored into which file: everything that decides what the output holds, except
    the measure.

    Attributes:
        inputs: files as `files.read_rows` takes them.
        output: a file that ends in one of ``files.WRITABLE``, ``-`` for JSON Lines on standard
            output, or ``None``.
        source_column, summary_column: where the texts are.
        prefix: what the names of the output columns begin with.
        keep_texts: whether the output holds the two texts too.
        with_signature: whether each row says the signature, which otherwise stands beside the rows
            (`files.read_meta`).
        look_ahead: pairs that are scored and committed together; equal sources among them are
            encoded once. ``None``: as many as take about half a minute (`WORK`), 256 at most.
        threshold: as `EstimeResult.flags` takes it, for the column ``flag``, 1 for a summary that
            is worth a look; or ``None`` for no such column.

    Raises:
        ValueError: the output cannot be written, or is one of the inputs; ``look_ahead`` is below
            1.
    """

    inputs: tuple[Path, ...]
    output: Path | None = None
    source_column: str = "source"
    summary_column: str = "summary"
    prefix: str = ""
    keep_texts: bool = False
    with_signature: bool = False
    look_ahead: int | None = None
    threshold: float | str | None = None

    def __post_init__(self) -> None:
        if self.look_ahead is not None:
            integer("look_ahead", self.look_ahead, least=1)
        if self.output is not None:
            files.check_writable(self.output, self.inputs)

    @property
    def streams(self) -> bool:
        """Whether the output is standard output, which cannot be resumed."""
        return self.output is not None and files.is_standard(self.output)

    @property
    def ending(self) -> str:
        """The format of the rows as they are written: Parquet's are JSON Lines until the job is
        done.
        """
        return (
            ".csv" if self.output is not None and self.output.suffix.lower() == ".csv" else ".jsonl"
        )

    def options(self) -> dict[str, Any]:
        """What has to be equal where a run is resumed, besides the inputs and the signature."""
        return {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in ("inputs", "output")
        }

    def limits(self, scorer: EstimeScorer) -> tuple[int, int]:
        """Pairs and bytes of text in a chunk, see `files.Pairs.ends_before`; loads the encoder."""
        return (
            (PAIRS, bytes_of_work(scorer)) if self.look_ahead is None else (self.look_ahead, BYTES)
        )


def bytes_of_work(scorer: EstimeScorer) -> int:
    """Bytes of text that are the `WORK` of a chunk, about; loads the encoder."""
    config, encoder = scorer.resolved_config, scorer.encoder
    # A token stands in `distance` windows, and takes 12 products of width by width a block, two
    # operations each.
    token = config.distance * max(*config.layer_tuple, 1) * 24 * encoder.info.width**2
    work = WORK if encoder.device.type == "cpu" else _FASTER * WORK
    return min(max(int(_TOKEN * work / token), 1), BYTES)


@dataclass
class Totals:
    """Sums over the pairs of a job.

    Attributes:
        pairs, skipped: how many pairs were scored, and how many rows were invalid.
        sums: for each measure (``alarms``, or ``alarms@12`` where there are several layers) the sum
            of its values and the number of pairs for which it is defined.
        unchecked, blank: how many summaries have no token in common with their source, and how many
            have none at all.
        flagged: how many summaries are flagged.
        unchecked_lines, blank_lines: the first of them.
    """

    pairs: int = 0
    skipped: int = 0
    sums: dict[str, list[float]] = field(default_factory=dict)
    unchecked: int = 0
    blank: int = 0
    flagged: int = 0
    unchecked_lines: list[int] = field(default_factory=list)
    blank_lines: list[int] = field(default_factory=list)

    @classmethod
    def of(
        cls, pairs: files.Pairs, result: EstimeResult, threshold: float | str | None = None
    ) -> Totals:
        """The totals of one chunk."""
        keys = [(measure, layer) for layer in result.layers for measure in result.measures]
        sums = {}
        for name, key in zip(
            files.measure_columns(result.measures, result.layers), keys, strict=True
        ):
            values = [value for value in result.values(*key).tolist() if not math.isnan(value)]
            sums[name] = [math.fsum(values), float(len(values))]
        flagged = 0 if threshold is None else int(result.flags(threshold).sum())
        unchecked, blank = (
            [pairs.lines[index] for index in of[:_NAMED]] for of in (result.unchecked, result.blank)
        )
        counts = (
            len(pairs),
            len(pairs.problems),
            sums,
            len(result.unchecked),
            len(result.blank),
            flagged,
        )
        return cls(*counts, unchecked, blank)

    def add(self, other: Totals) -> None:
        """Adds the totals of the chunk that follows."""
        for name in ("pairs", "skipped", "unchecked", "blank", "flagged"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.unchecked_lines = (self.unchecked_lines + other.unchecked_lines)[:_NAMED]
        self.blank_lines = (self.blank_lines + other.blank_lines)[:_NAMED]
        for name, (value, number) in other.sums.items():
            known = self.sums.setdefault(name, [0.0, 0.0])
            known[0] += value
            known[1] += number

    def mean(self, measure: str) -> float:
        """The mean of a measure over the pairs for which it is defined; NaN where there is none."""
        value, number = self.sums.get(measure, (0.0, 0.0))
        return value / number if number else math.nan
