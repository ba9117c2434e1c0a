"""What a job reads, how it writes, and how large its chunks are."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric.checks import integer
from estime_metric.measures import RECOMMENDED, check_threshold
from estime_metric.table.output import check_writable, lock_path, record_path, resolved
from estime_metric.table.rows import TABLES, Layout

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer

PAIRS = 256  # in a chunk, at most, unless `Job.look_ahead` is set

#: Work of a chunk, in floating-point operations of the encoder: about ten seconds of two cores of
#: a server, and how many times as much on a GPU. It is a constant and not a measured speed, so that
#: equal inputs always have equal chunks.
WORK, _FASTER = 2e12, 100

BYTES = 32_000_000  # of text in a chunk, at most: bounds the memory if texts are books
_TOKEN = 4  # bytes of text that make a token, about


@dataclass(frozen=True, kw_only=True)
class Job:
    """Which files are scored into which file: everything that decides what the output contains,
    except the options of the metric.

    Attributes:
        inputs: Files in the formats of `read_lines`.
        layout: The columns or lines of the texts in the inputs.
        output: Write scores to a .jsonl, .csv or .parquet file; '-' for standard output. If it is a
            link, to its target.
        keep_texts: Also write the sources and summaries to the output.
        prefix: Prefix of the output columns, such as estime_.
        threshold: Flag summaries with an inconsistency of at least VALUE: in the column 'flag' of
            the output and the table, and in a list of the worst with their words. 'estime
            calibrate' chooses a threshold for your texts.
        look_ahead: Number of pairs per chunk, which are scored and kept together; identical
            sources in a chunk are encoded once. ``None`` selects about ten seconds of work
            (`WORK`), at most 256 pairs.

    Raises:
        ValueError: the output cannot be written; it, its record or its rows are one of the inputs;
            ``look_ahead`` is below 1; ``threshold`` is not from 0 to 1; a text file has another
            number of lines than the sources.
        OSError: the folder of the output cannot be written to.
        ImportError: the output is Parquet, and pyarrow is not installed.
    """

    inputs: tuple[Path, ...]
    layout: Layout = TABLES
    output: Path | None = None
    keep_texts: bool = False
    prefix: str = ""
    threshold: float | None = None
    look_ahead: int | None = None

    def __post_init__(self) -> None:
        if self.look_ahead is not None:
            integer("look_ahead", self.look_ahead, least=1)
        if self.threshold is not None:
            check_threshold(self.threshold, RECOMMENDED)
        if self.output is not None:
            object.__setattr__(self, "output", resolved(self.output))
            check_writable(self.output, self.read_files)
            for path in self.read_files:
                if path.resolve() in own_files(self.output):
                    raise ValueError(
                        f"Expected the inputs to be other files than those that belong to "
                        f"{self.output}, but got {str(path)!r}."
                    )

    @property
    def read_files(self) -> tuple[Path, ...]:
        """All files that the job reads: the inputs, and the text file of sources if there is one."""
        sources = self.layout.source_file
        return self.inputs if sources is None else (*self.inputs, sources)

    @property
    def has_several_inputs(self) -> bool:
        """Whether rows of the output name their file."""
        return len(self.inputs) > 1

    @cached_property
    def can_read_again(self) -> bool:
        """Whether all files are plain files, unlike standard input and pipes."""
        return all(path.is_file() for path in self.read_files)

    def options(self) -> dict[str, Any]:
        """What has to be equal to resume a run, in addition to inputs, threshold and metric."""
        layout = {field.name: getattr(self.layout, field.name) for field in fields(Layout)}
        own = {name: getattr(self, name) for name in ("prefix", "keep_texts", "look_ahead")}
        return {**layout, **own}


def rows_path(output: Path) -> Path:
    """The file of rows of an output that is not finished."""
    return output.with_name(f"{output.name}.rows.jsonl")


def own_files(output: Path) -> tuple[Path, ...]:
    """The absolute names of what a job writes next to its output: record, rows and lock."""
    output = Path(os.path.realpath(output))
    return record_path(output), rows_path(output), lock_path(output)


def chunk_limits(job: Job, scorer: EstimeScorer) -> dict[str, int]:
    """How large the chunks of a job are, as `cut` takes it; loads the encoder."""
    if job.look_ahead is not None:
        return {"most_pairs": job.look_ahead, "most_bytes": BYTES}
    config, encoder = scorer.resolved_config, scorer.encoder
    # A token is in `distance` windows, and needs 12 products of width by width in each block, two
    # operations each.
    token = config.schedule["distance"] * max(*config.layer_tuple, 1) * 24 * encoder.info.width**2
    work = WORK if encoder.device.type == "cpu" else _FASTER * WORK
    return {"most_pairs": PAIRS, "most_bytes": min(max(int(_TOKEN * work / token), 1), BYTES)}
