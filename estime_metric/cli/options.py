"""The options that several commands share, in groups that are one keyword argument of a command.

Of each group there is a constant in which nothing is given, the default of that argument.
"""

# Annotations are evaluated here, not postponed: Cyclopts reads them also if another module extends
# a group.
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, validators

from estime_metric.checks import listed_names
from estime_metric.config import EstimeConfig
from estime_metric.config_file import combined
from estime_metric.table.pairs import check_text_file
from estime_metric.table.rows import TABLES, Layout, check_delimiter

#: Endings of the files that a plot can be written to.
PLOTS = (".png", ".svg", ".pdf")

Quiet = Annotated[bool, Parameter(alias="-q", help="Do not show a progress bar.")]
SourceColumn = Annotated[str, Parameter(help="Column of the sources.")]
SummaryColumn = Annotated[str, Parameter(help="Column of the summaries.")]
Overwrite = Annotated[bool, Parameter(help="Overwrite an existing output.")]
Seed = Annotated[int, Parameter(help="Random seed.", validator=validators.Number(gte=0))]
Count = Annotated[int, Parameter(validator=validators.Number(gte=0))]
PositiveCount = Annotated[int, Parameter(validator=validators.Number(gte=1))]
Output = Annotated[Path | None, Parameter(alias="-o")]
Resamples = Annotated[int, Parameter(name=["--resamples", "-n"])]
PairsFile = Annotated[
    Path,
    Parameter(
        help="Table with one pair of source and summary per row: .jsonl, .json, .csv, .tsv (each "
        "also as .gz) or .parquet."
    ),
]
Text = str | None  # ``None`` leaves an option at the default of `EstimeConfig`

_INPUT = Group("Input", sort_key=1)
_ENCODER = Group("Encoder", sort_key=2)
_MEASURE = Group("Measure", sort_key=3)


@Parameter(name="*", group=_INPUT)
@dataclass(frozen=True, kw_only=True)
class TableOptions(Layout):
    """Where the texts are in a table, and the delimiter of CSV."""

    source_file: Annotated[Path | None, Parameter(parse=False)] = None


@Parameter(name="*", group=_INPUT)
@dataclass(frozen=True, kw_only=True)
class TextOptions(Layout):
    """Where the texts are in a table, or in text files with one text per line.

    Attributes:
        summary_files: Text files with one summary per line, in the order of --source-file.
    """

    source_file: Annotated[Path | None, Parameter(alias="-s")] = None
    summary_files: Annotated[
        tuple[Path, ...],
        Parameter(name=["--summary-files", "-i"], consume_multiple=True, show_default=False),
    ] = ()

    def choose(self, tables: tuple[Path, ...]) -> tuple[Path, ...]:
        """The files of summaries, or the ``tables`` if text files were not given; ValueError for
        both, or for sources without summaries.
        """
        if (self.source_file is None) != (not self.summary_files):
            raise ValueError(
                "Expected `source_file` and `summary_files` together, but got only one of them."
            )
        if self.summary_files and tables:
            raise ValueError(
                "Expected tables or text files, but got both. A text file of summaries follows "
                "--summary-files."
            )
        check_delimiter(self, tables)
        if self.source_file is not None:
            for path in (self.source_file, *self.summary_files):
                check_text_file(path)
            for name in ("source_column", "summary_column", "delimiter"):
                if getattr(self, name) != getattr(TABLES, name):
                    raise ValueError(f"Expected `{name}` with tables, but got it with text files.")
        return self.summary_files or tables


def _options_of_metric(group: Group) -> Callable[[type], type]:
    """Puts the options of a class into a panel of the help, with the texts of `EstimeConfig`."""
    parameters = {field.name: field.metadata["parameter"] for field in fields(EstimeConfig)}

    def decorate(options: type) -> type:
        options.__annotations__ |= {
            name: Annotated[kind, Parameter(group=group, **parameters[name])]
            for name, kind in options.__annotations__.items()
            if parameters.get(name)
        }
        return options

    return decorate


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@_options_of_metric(_ENCODER)
class EncoderOptions:
    """Which encoder is used, and where it runs."""

    model: Text = None
    revision: Text = None
    dtype: Text = None
    device: Text = None

    def settings(self) -> dict[str, Any]:
        """The given options, as arguments of `EstimeConfig`.

        Raises ValueError for a device that this machine does not have.
        """
        if self.device is not None:
            from estime_metric.engine.encoder.device import choose_device  # slow: imports torch

            choose_device(self.device)
        return {name: value for name, value in vars(self).items() if value is not None}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@_options_of_metric(_MEASURE)
class ScoringOptions(EncoderOptions):
    """What is masked and compared."""

    layers: Text = None
    unit: Text = None
    distance: int | None = None
    min_tokens: int | None = None
    config: Annotated[
        Path | None,
        Parameter(
            group=_MEASURE,
            metavar="FILE",
            help='Further options from a file: a JSON object such as {"window": 200, "normalize": '
            "true}, or a scored file (or its .meta.json), to score with the same settings. The options above override it.",
        ),
    ] = None

    def settings(self) -> dict[str, Any]:
        """The given options and those of the file, as arguments of `EstimeConfig`.

        Raises ValueError or TypeError for what the file should not contain, OSError if it cannot be
        read.
        """
        own = super().settings()
        if self.layers is not None:
            own["layers"] = parse_layers(self.layers)
        if self.config is not None:
            own = combined(own.pop("config"), own)
        if not hasattr(self, "measures"):  # those of a record
            own.pop("measures", None)
        return own


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@_options_of_metric(_MEASURE)
class MeasureOptions(ScoringOptions):
    """All options of the metric."""

    measures: Text = None


TABLE, TEXTS = TableOptions(), TextOptions()
SCORING, MEASURE = ScoringOptions(), MeasureOptions()


def parse_names(text: str | None) -> tuple[str, ...] | None:
    """``"soft,coherence"`` as ``("soft", "coherence")``."""
    return None if text is None else listed_names("names", text)


def parse_integers(option: str, text: str, otherwise: str = "") -> tuple[int, ...]:
    """``"12,21"`` as ``(12, 21)``; ValueError, which names the option, if it is not a list of
    integers.
    """
    parts = text.split(",")
    if not all(re.fullmatch(r"\s*[+-]?[0-9]+\s*", part) for part in parts):
        raise ValueError(
            f"Expected {option} to be comma-separated integers{otherwise}, but got {text!r}."
        )
    return tuple(map(int, parts))


def parse_layers(text: str) -> tuple[int, ...] | str:
    """As `parse_integers`; ``"all"`` as it is."""
    return text if text == "all" else parse_integers("--layers", text, ", or 'all'")
