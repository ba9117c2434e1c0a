"""The options that several commands share, in groups that are one keyword argument of a command.

Of each group there is a constant in which nothing is given, the default of that argument.
"""

# Annotations are evaluated here, not postponed: Cyclopts reads them also if another module extends
# a group.
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, validators

from estime_metric import files
from estime_metric.config import DTYPES, EMBEDDED_MODEL, PAPER, SPLITTERS, TAGGERS, UNITS
from estime_metric.measures import FURTHER_MEASURES

#: Endings of the files that a plot can be written to.
PLOTS = (".png", ".svg", ".pdf")

Quiet = Annotated[bool, Parameter(alias="-q", help="Do not show a progress bar.")]
Overwrite = Annotated[bool, Parameter(help="Overwrite an existing output.")]
Seed = Annotated[int, Parameter(help="Random seed.", validator=validators.Number(gte=0))]
Count = Annotated[int, Parameter(validator=validators.Number(gte=0))]
PositiveCount = Annotated[int, Parameter(validator=validators.Number(gte=1))]
Output = Annotated[Path | None, Parameter(alias="-o", allow_leading_hyphen=True)]
Resamples = Annotated[int, Parameter(name=["--resamples", "-n"])]
Confidence = Annotated[float, Parameter(help="Confidence level of the intervals.")]
SourceColumn = Annotated[str, Parameter(help="Column of the sources.")]
SummaryColumn = Annotated[str, Parameter(help="Column of the summaries.")]
PairsFile = Annotated[
    Path,
    Parameter(
        help="Table with one pair of source and summary per row: .jsonl, .json, .csv, .tsv (each "
        "also as .gz) or .parquet."
    ),
]
Text = str | None  # ``None`` leaves an option at the default of `EstimeConfig`
Number = int | None

_INPUT = Group("Input", sort_key=1)
_ENCODER = Group("Encoder", sort_key=2)
_MEASURE = Group("Measure", sort_key=3)


@Parameter(name="*", group=_INPUT)
@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Where the texts are in a table, and how CSV is read."""

    source_column: SourceColumn = "source"
    summary_column: SummaryColumn = "summary"
    delimiter: Annotated[
        Text,
        Parameter(
            help="Character between the cells of CSV, such as ';'. (default: comma, or tab for .tsv)"
        ),
    ] = None
    encoding: Annotated[
        Text, Parameter(help="Encoding of CSV and text files, such as latin-1. (default: utf-8)")
    ] = None
    unquoted: Annotated[
        bool,
        Parameter(
            help="Read quotation marks in CSV and TSV as ordinary characters, for tables whose cells "
            "are not enclosed in them."
        ),
    ] = False

    def layout(self, source_file: Path | None = None) -> files.Layout:
        """These options in the form of the library."""
        return files.Layout(
            source_column=self.source_column,
            summary_column=self.summary_column,
            source_file=source_file,
            options=files.ReadOptions(
                delimiter=self.delimiter, encoding=self.encoding, unquoted=self.unquoted
            ),
        )


@Parameter(name="*", group=_INPUT)
@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """Text files with one text per line in place of a table."""

    source_file: Annotated[
        Path | None,
        Parameter(alias="-s", help="Text file with one source per line; needs --summary-files."),
    ] = None
    summary_files: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["--summary-files", "-i"],
            consume_multiple=True,
            show_default=False,
            help="Text files with one summary per line, in the order of --source-file.",
        ),
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
        return self.summary_files or tables


@Parameter(name="*", group=_ENCODER)
@dataclass(frozen=True, kw_only=True)
class EncoderOptions:
    """Which encoder is used, and where it runs."""

    model: Annotated[
        Text,
        Parameter(
            alias="-m",
            help="Encoder: a bundled encoder ('embedded' or 'embedded-small'), a Hub name, a local "
            f"folder, or '{PAPER}' for the paper's setting. 'estime models' lists them. (default: "
            f"{EMBEDDED_MODEL})",
        ),
    ] = None
    revision: Annotated[Text, Parameter(help="Commit, tag or branch of a Hub model.")] = None
    dtype: Annotated[Text, Parameter(help=f"{', '.join(DTYPES)}. (default: float32)")] = None
    device: Annotated[
        Text,
        Parameter(help="cpu, cuda, cuda:1, mps ... (default: cuda if available, otherwise cpu)"),
    ] = None

    def given(self) -> dict[str, Any]:
        """The given options, as arguments of `EstimeConfig`.

        Raises ValueError for a device that this machine does not have.
        """
        if self.device is not None:
            from estime_metric.engine.encoder.masked import choose_device  # slow: imports torch

            choose_device(self.device)
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: _SPLIT[name](value) if name in _SPLIT else value
            for name, value in values.items()
            if value is not None and value is not False
        }


@Parameter(name="*", group=_MEASURE)
@dataclass(frozen=True, kw_only=True)
class ScoringOptions(EncoderOptions):
    """What is masked and compared."""

    layers: Annotated[
        Text,
        Parameter(alias="-l", help="Hidden layers: 21, 12,21,24 or 'all'. (default: by model)"),
    ] = None
    unit: Annotated[
        Text, Parameter(help=f"What is compared: {', '.join(UNITS)}. (default: token)")
    ] = None
    window: Annotated[
        Number,
        Parameter(
            help="Maximum number of tokens that the encoder processes together. (default: 450, or "
            "as many as the encoder allows)"
        ),
    ] = None
    margin: Annotated[
        Number,
        Parameter(
            help="Number of tokens at each edge of a window that only serve as context. "
            "(default: a ninth of the window, at most 50)"
        ),
    ] = None
    distance: Annotated[
        Number,
        Parameter(
            help="Minimum distance between two units masked in the same pass. (default: 2 for a "
            "bundled encoder, otherwise 8)"
        ),
    ] = None
    normalize: Annotated[bool, Parameter(help="Scale embeddings to length one.")] = False
    splitter: Annotated[
        Text,
        Parameter(
            help=f"Word splitter for --unit word or --tagger: {', '.join(SPLITTERS)}. "
            "(default: regex)"
        ),
    ] = None
    tagger: Annotated[
        Text, Parameter(help=f"Part-of-speech tagger: {', '.join(TAGGERS)}. (default: none)")
    ] = None
    keep_tags: Annotated[
        Text,
        Parameter(help="Parts of speech to use, comma-separated; needs --tagger. (default: all)"),
    ] = None
    drop_tags: Annotated[
        Text, Parameter(help="Parts of speech to exclude, comma-separated; needs --tagger.")
    ] = None
    token_budget: Annotated[
        Number,
        Parameter(
            help="Maximum number of tokens per forward pass. Affects memory and speed; scores "
            "change only by rounding."
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """As `EncoderOptions.given`; ValueError for a splitter without anything to split."""
        units = parse_names(self.unit) or ()
        if self.splitter is not None and self.tagger is None and "word" not in units:
            raise ValueError(
                "Expected --unit word or --tagger with --splitter: without them, the text is not "
                "split into words."
            )
        return super().given()


@Parameter(name="*", group=_MEASURE)
@dataclass(frozen=True, kw_only=True)
class EveryMeasureOptions(ScoringOptions):
    """The options of commands that compute all measures."""

    soft_model: Annotated[
        Text,
        Parameter(
            help="Encoder that provides the input embeddings for 'soft'. (default: the encoder "
            "given by --model)"
        ),
    ] = None
    soft_revision: Annotated[Text, Parameter(help="Commit, tag or branch of --soft-model.")] = None


@Parameter(name="*", group=_MEASURE)
@dataclass(frozen=True, kw_only=True)
class MeasureOptions(EveryMeasureOptions):
    """All options of the metric."""

    measures: Annotated[
        Text,
        Parameter(
            help=f"Additional measures to compute, comma-separated: {', '.join(FURTHER_MEASURES)}. "
            "You can also name any other measure to print its mean. (default: none)"
        ),
    ] = None


TABLE, TEXT_FILES, ENCODER = TableOptions(), TextOptions(), EncoderOptions()
SCORING, EVERY_MEASURE, MEASURE = ScoringOptions(), EveryMeasureOptions(), MeasureOptions()


def parse_names(text: str | None) -> tuple[str, ...] | None:
    """``"soft,coherence"`` as ``("soft", "coherence")``."""
    return None if text is None else tuple(part.strip() for part in text.split(","))


def parse_integers(option: str, text: str, otherwise: str = "") -> tuple[int, ...]:
    """``"12,21"`` as ``(12, 21)``; ValueError, which names the option, if it is not a list of
    integers.
    """
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise ValueError(
            f"Expected {option} to be comma-separated integers{otherwise}, but got {text!r}."
        ) from error


def parse_layers(text: str) -> tuple[int, ...] | str:
    """As `parse_integers`; ``"all"`` as it is."""
    return text if text == "all" else parse_integers("--layers", text, ", or 'all'")


#: Options whose text contains several values.
_SPLIT = {
    "layers": parse_layers,
    "measures": parse_names,
    "keep_tags": parse_names,
    "drop_tags": parse_names,
}
