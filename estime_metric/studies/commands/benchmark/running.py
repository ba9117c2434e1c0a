"""The options of the benchmarks, and the one way in which they run."""

# Annotations are evaluated here, not postponed, because Cyclopts also reads them when another module
# extends a group.
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from estime_metric.cli import options
from estime_metric.cli.console import say, say_wrote, warn
from estime_metric.config import EstimeConfig
from estime_metric.config_file import OF_ENCODER, contained, options_of
from estime_metric.studies.commands.folder import make_folder

if TYPE_CHECKING:
    from estime_metric.scorer import EstimeScorer
    from estime_metric.studies.benchmarks.shared.blocks import Block
    from estime_metric.studies.benchmarks.shared.running import Benchmark

_OTHERS = Group("Other measures", sort_key=4)

#: A second setting of ESTIME in the same run.
Compare = Annotated[
    Path | None,
    Parameter(
        name="--compare",
        metavar="CONFIG",
        group=_OTHERS,
        help="ESTIME in a second setting, next to the first: a JSON file with the options that differ, such as "
        '{"distance": 8}; or a scored file (or its .meta.json), of which every option is used except the device.',
    ),
]


def _repeatable(name: str, help: str) -> Parameter:
    return Parameter(name=name, help=f"{help}. Can be given several times.", show_default=False)


@Parameter(name="*", group=_OTHERS)
@dataclass(frozen=True, kw_only=True)
class OwnScores:
    """Scores that were computed elsewhere."""

    scores: Annotated[
        tuple[Path, ...],
        _repeatable(
            "--scores",
            "CSV, JSON Lines or Parquet with a row per summary: columns document (or doc, doc_id ...), "
            "system (or model, model_id ...), with the ids of the data, and one per measure; a column "
            "score is called by the file",
        ),
    ] = ()
    lower: Annotated[
        tuple[str, ...], _repeatable("--lower", "Column in --scores for which lower is better")
    ] = ()

    def blocks(self) -> "list[Block]":
        """The files' scores as measures of a benchmark; the files are read here."""
        from estime_metric.studies.benchmarks.shared.own_scores import own_blocks

        return own_blocks(self.scores, self.lower)


@Parameter(name="*", group=Group("Measure", sort_key=3))
@dataclass(frozen=True, kw_only=True)
class EveryMeasure(options.ScoringOptions):
    """The options of ESTIME except the further measures: all of them are computed."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Where the results go, and how the intervals are computed."""

    output: Annotated[
        Path | None,
        Parameter(
            alias="-o", help="Folder for scores and tidy tables (CSV), tables (Markdown) and plots."
        ),
    ] = None
    resume: Annotated[
        bool,
        Parameter(
            help="Reuse scores with the same signature from --output instead of computing them again."
        ),
    ] = False
    overwrite: options.Overwrite = False
    resamples: Annotated[
        options.PositiveCount, Parameter(help="Bootstrap samples of the intervals.")
    ] = 1000
    seed: options.Seed = 0
    quiet: options.Quiet = False

    def make_folder(self) -> None:
        """Makes the folder of the output before anything is read; ValueError if it may not."""
        if self.resume and self.overwrite:
            raise ValueError("Give --resume or --overwrite, not both.")
        if self.resume and self.output is None:
            raise ValueError(
                "Expected --output with --resume: name the folder with the earlier scores."
            )
        if self.output is not None:
            make_folder(self.output, overwrite=self.overwrite or self.resume)

    def run(self, benchmark: "Benchmark", data: Any, blocks: "Sequence[Block]") -> int:
        """Runs a benchmark, prints its tables for the screen, says what was written and what could not
        be computed; returns the exit status.
        """
        from estime_metric.studies.benchmarks.shared.running import run
        from estime_metric.studies.printed import print_tables

        results = run(
            benchmark,
            data,
            blocks,
            folder=self.output,
            resume=self.resume,
            resamples=self.resamples,
            seed=self.seed,
            progress=not self.quiet,
        )
        shown = benchmark.shown or results.tables
        print_tables(results.tables[name] for name in shown if name in results.tables)
        if names := ", ".join(results.scored.reused):
            say(f"Scores of the earlier run: {names}")
        if self.output is not None:
            say_wrote(", ".join(sorted(path.name for path in self.output.iterdir())), self.output)
        for name, reason in results.scored.problems.items():
            warn(f"{name}: {reason}")
        return 1 if results.scored.problems else 0


def scorers_of(
    first: dict[str, Any], compared: Path | None, measures: Sequence[str] = ()
) -> "dict[str, EstimeScorer]":
    """ESTIME in a first setting (``""``) and, by what differs in it, in that of a file.

    Args:
        first: options of `EstimeConfig`.
        measures: further measures of the second setting, if the file names none.
        compared: a JSON object of options, which replace those of the first setting. With another
            ``model``, only ``layers="all"`` is kept of what belongs to the encoder; ``measures`` are
            never kept. Or a record, as for ``--config``: its options are all that count, with the
            device of the first.

    Raises:
        TypeError, ValueError, OSError: the file is neither, or has an invalid option; and ValueError
            if nothing differs.
    """
    from estime_metric.scorer import EstimeScorer  # imports torch: slow

    scorers = {"": EstimeScorer(**first)}
    if compared is None:
        return scorers
    written, is_record = contained(compared)
    model = first.get("model", EstimeConfig().model)
    is_other = written.get("model", model) != model
    if is_record:
        kept = {name: value for name, value in first.items() if name == "device"}
    else:
        kept = {
            name: value
            for name, value in first.items()
            if name != "measures" and (not is_other or name not in OF_ENCODER or value == "all")
        }
    scorer = EstimeScorer(**{"measures": measures, **kept, **written})
    one, other = (vars(each.encoder.info.resolve(each.config)) for each in (scorers[""], scorer))
    of_encoder = OF_ENCODER if is_other and is_record else ()
    # What a record lacks has its default.
    names = dict.fromkeys((*written, *(options_of({"config": other}) if is_record else ())))
    changed = [
        _option_text(name, other[name])
        for name in names
        if name not in of_encoder
        and one[name] != other[name]
        and (name != "measures" or written.get(name))
    ]
    if not changed:
        raise ValueError(f"Expected {compared.name} to change an option, but it changes none.")
    return {**scorers, ", ".join(changed): scorer}


def _option_text(name: str, value: Any) -> str:
    """An option as a setting is called by: ``distance 8``, ``normalize``, ``min_tokens no``."""
    if isinstance(value, bool) or value is None:
        return name if value else f"{name} no"
    is_list = isinstance(value, (tuple, frozenset))
    return f"{name} {('+'.join(map(str, sorted(value))) or 'no') if is_list else value}"


#: What a command has if no option of these groups is given.
RUN, OWN, MEASURE = RunOptions(), OwnScores(), EveryMeasure()
