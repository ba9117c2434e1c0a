"""Options and output that several benchmarks share."""

# Annotations are evaluated here, not postponed: Cyclopts reads them also where another module extends a group.
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter
from rich.console import Console
from rich.text import Text

from estime_metric import files
from estime_metric.cli import options, screen
from estime_metric.cli.console import say, warn

if TYPE_CHECKING:
    from estime_metric.studies.shared.scoring import Block, Scores
    from estime_metric.tables import Cell, Table

_OTHERS = Group("Other measures", sort_key=3)


OutputFolder = Annotated[
    Path | None, Parameter(alias="-o", help="Folder for scores, tables (Markdown, CSV, LaTeX) and plots.")
]
Resume = Annotated[bool, Parameter(help="Take scores with the same signature from --output instead of measuring.")]
Resamples = Annotated[options.PositiveCount, Parameter(help="Bootstrap samples of the intervals.")]


def _repeatable(name: str, help: str) -> Parameter:
    """An option that may be given several times."""
    return Parameter(name=name, help=help, show_default=False)


@Parameter(name="*", group=_OTHERS)
@dataclass(frozen=True, kw_only=True)
class OwnScores:
    """Scores that were computed elsewhere."""

    scores: Annotated[
        tuple[Path, ...],
        _repeatable(
            "--scores",
            "CSV, JSON Lines or Parquet with document, system and a column for each measure; may be repeated.",
        ),
    ] = ()
    lower: Annotated[
        tuple[str, ...], _repeatable("--lower", "Column of --scores of which less is better; may be repeated.")
    ] = ()


@Parameter(name="*", group=_OTHERS)
@dataclass(frozen=True, kw_only=True)
class OtherMeasures(OwnScores):
    """Measures beside ESTIME."""

    blanc: Annotated[
        tuple[str, ...],
        _repeatable("--blanc", "BLANC-help with this encoder, a Hub name or folder; may be repeated."),
    ] = ()
    blanc_tune: Annotated[
        tuple[str, ...],
        _repeatable("--blanc-tune", "BLANC-tune, likewise: slow, since the encoder is tuned on each summary."),
    ] = ()

    def blocks(self, device: str | None) -> "list[Block]":
        """BLANC and the files' scores as measures of a benchmark; the files are read here."""
        from estime_metric.studies.shared.blanc import blanc_block
        from estime_metric.studies.shared.own_scores import own_blocks

        blanc = [blanc_block(model, device=device) for model in self.blanc]
        blanc += [blanc_block(model, "tune", device=device) for model in self.blanc_tune]
        return [*blanc, *own_blocks(self.scores, self.lower)]


@Parameter(name="*", group=Group("Measure", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class EveryMeasure(options.UnitOptions):
    """The options of the measure, but for the further measures: all of them are measured."""

    layers: options.Layers = None


def print_tables(
    tables: "Iterable[Table]",
    reused: Iterable[str] = (),
    dim: "Callable[[tuple[Cell, ...]], bool] | None" = None,
) -> None:
    """The tables, then the notes of all of them, each once, then which scores come from an earlier run."""
    console = Console()
    notes: dict[str, None] = {}
    for table in tables:
        screen.print_table(table, console, dim=dim)
        notes |= dict.fromkeys(table.notes)
    for note in notes:
        console.print(Text(note))
    if names := ", ".join(reused):
        console.print(Text(f"Scores of the earlier run: {names}"))


def make_folder(output: Path | None, *, resume: bool, overwrite: bool) -> None:
    """Makes the folder of the output before anything is read, or refuses it.

    Raises:
        ValueError: ``--resume`` without a folder or with ``--overwrite``.
        FileExistsError: it is not empty, and neither option is set.
        OSError: it cannot be made.
    """
    if resume and overwrite:
        raise ValueError("Give --resume or --overwrite, not both.")
    if resume and output is None:
        raise ValueError("--resume needs --output, the folder of the earlier scores.")
    if output is not None:
        files.make_folder(output, overwrite=overwrite or resume)


def finish(scores: "Scores[Any]", output: Path | None) -> int:
    """Says what was written and what could not be measured; returns the exit status."""
    if output is not None:
        say(f"written to {output}: {', '.join(sorted(path.name for path in output.iterdir()))}")
    problems: Mapping[str, str] = scores.problems
    for name, reason in problems.items():
        warn(f"{name}: {reason}")
    return 1 if problems else 0
