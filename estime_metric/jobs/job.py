"""What a job reads and how it writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from estime_metric import files


@dataclass(frozen=True, kw_only=True)
class Job:
    """Which files are scored into which file. Everything that decides what stands in the output, but the measure.

    Attributes:
        inputs: files as `files.read_rows` takes them.
        output: a file that ends in one of ``files.WRITABLE``, ``-`` for JSON Lines on standard output, or ``None``.
        source_column, summary_column: where the texts are.
        prefix: what the names of our columns begin with.
        keep_texts: whether the output holds the two texts too.
        look_ahead: pairs that are scored together. Equal sources among them are encoded once; more of them cost
            memory for their texts, and work where a run is killed.

    Raises:
        ValueError: the output cannot be written, or is one of the inputs; ``look_ahead`` is below 1.
    """

    inputs: tuple[Path, ...]
    output: Path | None = None
    source_column: str = "source"
    summary_column: str = "summary"
    prefix: str = ""
    keep_texts: bool = False
    look_ahead: int = 256

    def __post_init__(self) -> None:
        if self.look_ahead < 1:
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

    def options(self) -> dict[str, str | int | bool]:
        """What has to be equal where a run is resumed, besides the inputs and the signature."""
        return {
            "source_column": self.source_column,
            "summary_column": self.summary_column,
            "prefix": self.prefix,
            "keep_texts": self.keep_texts,
            "look_ahead": self.look_ahead,
        }
