"""What a job reads and how it writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric import files

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

#: Pairs in a chunk, at most, where `Job.look_ahead` is left open.
PAIRS = 256

#: Work of a chunk, in floating-point operations of the encoder: about half a minute of two cores of a server. It is a
#: constant, not a measured speed, so that equal inputs have equal chunks whatever the clock says.
WORK = 6e12

#: How many times as much a chunk holds where the encoder runs on a GPU.
_FASTER = 100

#: Bytes of text in a chunk, at most: bounds the memory where texts are books.
BYTES = 32_000_000

#: Bytes of text that make a token, about.
_TOKEN = 4


@dataclass(frozen=True, kw_only=True)
class Job:
    """Which files are scored into which file. Everything that decides what the output holds, except the measure.

    Attributes:
        inputs: files as `files.read_rows` takes them.
        output: a file that ends in one of ``files.WRITABLE``, ``-`` for JSON Lines on standard output, or ``None``.
        source_column, summary_column: where the texts are.
        prefix: what the names of our columns begin with.
        keep_texts: whether the output holds the two texts too.
        with_signature: whether each row says the signature, which otherwise stands beside the rows (`files.read_meta`).
        look_ahead: pairs that are scored and committed together; equal sources among them are encoded once. ``None``:
            as many as take about half a minute (`WORK`), 256 at most.
        threshold: as `EstimeResult.flags` takes it, for the column ``flag``, 1 for a summary that is worth a look; or
            ``None`` for no such column.

    Raises:
        ValueError: the output cannot be written, or is one of the inputs; ``look_ahead`` is below 1.
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
        if self.look_ahead is not None and self.look_ahead < 1:
            raise ValueError(f"Expected argument `look_ahead` to be at least 1, but got {self.look_ahead}.")
        if self.output is not None:
            files.check_writable(self.output, self.inputs)

    @property
    def streams(self) -> bool:
        """Whether the output is standard output, which cannot be resumed."""
        return self.output is not None and files.is_standard(self.output)

    @property
    def ending(self) -> str:
        """The format of the rows as they are written: Parquet's are JSON Lines until the job is done."""
        return ".csv" if self.output is not None and self.output.suffix.lower() == ".csv" else ".jsonl"

    def options(self) -> dict[str, Any]:
        """What has to be equal where a run is resumed, besides the inputs and the signature."""
        return {
            "source_column": self.source_column,
            "summary_column": self.summary_column,
            "prefix": self.prefix,
            "keep_texts": self.keep_texts,
            "with_signature": self.with_signature,
            "look_ahead": self.look_ahead,
            "threshold": self.threshold,
        }

    def limits(self, scorer: EstimeScorer) -> tuple[int, int]:
        """Pairs and bytes of text in a chunk, see `files.Pairs.ends_before`; loads the encoder."""
        return (PAIRS, bytes_of_work(scorer)) if self.look_ahead is None else (self.look_ahead, BYTES)


def bytes_of_work(scorer: EstimeScorer) -> int:
    """Bytes of text that are the `WORK` of a chunk, about; loads the encoder."""
    config, encoder = scorer.resolved_config, scorer.encoder
    # A token stands in `distance` windows, and takes 12 products of width by width a block, two operations each.
    token = config.distance * max(*config.layer_tuple, 1) * 24 * encoder.info.width**2
    work = WORK if encoder.device.type == "cpu" else _FASTER * WORK
    return min(max(int(_TOKEN * work / token), 1), BYTES)
