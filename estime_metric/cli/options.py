"""The options that several commands share: groups of them are one keyword argument, whose
``given()`` is passed on.
"""

# Annotations are evaluated here, not postponed: Cyclopts reads them also where another module
# extends a group.
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, validators

from estime_metric.config import DTYPES, FAST, PAPER_MODEL, SPLITTERS, TAGGERS, UNITS
from estime_metric.measures import FURTHER_MEASURES

SourceColumn = Annotated[str, Parameter(help="Column of the sources.")]
SummaryColumn = Annotated[str, Parameter(help="Column of the summaries.")]
Quiet = Annotated[bool, Parameter(alias="-q", help="No progress bar.")]
Overwrite = Annotated[bool, Parameter(help="Replace an output that exists.")]
Seed = Annotated[int, Parameter(help="Seed of the random numbers.")]
Count = Annotated[int, Parameter(validator=validators.Number(gte=0))]
PositiveCount = Annotated[int, Parameter(validator=validators.Number(gte=1))]
Output = Annotated[Path | None, Parameter(alias="-o")]
Resamples = Annotated[int, Parameter(name=["--resamples", "-n"])]
Confidence = Annotated[float, Parameter(help="Share of the resamples within an interval.")]
PairsFile = Annotated[
    Path, Parameter(help="JSON Lines, CSV or Parquet with a source and a summary in each row.")
]
Text = str | None  # ``None`` leaves an option at the default of `EstimeConfig`
Number = int | None
Layers = Annotated[
    Text, Parameter(alias="-l", help="Hidden layers: 21, 12,21,24 or 'all'. (default: by model)")
]


@Parameter(name="*", group=Group("Encoder", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class EncoderOptions:
    """Which encoder is used, and where it runs."""

    model: Annotated[
        Text,
        Parameter(
            alias="-m",
            help="Hub name or local folder of the encoder, or 'embedded' or "
            f"'embedded-small' for those in the package. (default: {PAPER_MODEL})",
        ),
    ] = None
    revision: Annotated[Text, Parameter(help="Commit, tag or branch of a Hub model.")] = None
    dtype: Annotated[Text, Parameter(help=f"{', '.join(DTYPES)}. (default: float32)")] = None
    device: Annotated[
        Text, Parameter(help="cpu, cuda, cuda:1, mps ... (default: cuda if available, else cpu)")
    ] = None

    def given(self) -> dict[str, Any]:
        """The options that were given, as `EstimeConfig` takes them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        preset = FAST if values.pop("fast", False) else {}
        given = {
            name: value
            for name, value in values.items()
            if value is not None and value is not False
        }
        return {
            **preset,
            **given,
            **{name: split(given[name]) for name, split in _SPLIT.items() if name in given},
        }


@Parameter(name="*", group=Group("Measure", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class UnitOptions(EncoderOptions):
    """What is masked and compared."""

    unit: Annotated[
        Text, Parameter(help=f"What is compared: {', '.join(UNITS)}. (default: token)")
    ] = None
    window: Annotated[Number, Parameter(help="Tokens the encoder sees at once. (default: 450)")] = (
        None
    )
    margin: Annotated[
        Number, Parameter(help="Tokens at a window's edge that stay unmasked. (default: 50)")
    ] = None
    distance: Annotated[
        Number, Parameter(help="Least distance between two masked units. (default: 8)")
    ] = None
    normalize: Annotated[bool, Parameter(help="Scale embeddings to length one.")] = False
    splitter: Annotated[
        Text,
        Parameter(
            help=f"Text to words, for --unit word or --tagger: {', '.join(SPLITTERS)}. (default: regex)"
        ),
    ] = None
    tagger: Annotated[
        Text, Parameter(help=f"Words to parts of speech: {', '.join(TAGGERS)}. (default: none)")
    ] = None
    drop_tags: Annotated[
        Text, Parameter(help="Parts of speech to leave out, comma-separated; needs --tagger.")
    ] = None
    token_budget: Annotated[
        Number, Parameter(help="Tokens in a forward pass; affects memory and speed only.")
    ] = None

    def given(self) -> dict[str, Any]:
        """As `EncoderOptions.given`; ValueError for a splitter without anything to split."""
        if (
            self.splitter is not None
            and self.tagger is None
            and "word" not in (parse_names(self.unit) or ())
        ):
            raise ValueError(
                "Expected --splitter with --unit word or --tagger: otherwise nothing is split into words."
            )
        return super().given()


@Parameter(name="*", group=Group("Measure", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class MeasureOptions(UnitOptions):
    """All options of the measure."""

    layers: Layers = None
    measures: Annotated[
        Text,
        Parameter(
            help=f"Further measures, comma-separated: {', '.join(FURTHER_MEASURES)}; "
            "or any other, to have it printed. (default: none)"
        ),
    ] = None
    soft_model: Annotated[
        Text, Parameter(help="Encoder whose input embeddings 'soft' compares. (default: own)")
    ] = None
    fast: Annotated[
        bool, Parameter(help="Preset: distance 2 unless given. Another measure than the paper's.")
    ] = False


def parse_names(text: str | None) -> tuple[str, ...] | None:
    """``"soft,coherence"`` as ``("soft", "coherence")``."""
    return None if text is None else tuple(part.strip() for part in text.split(","))


def parse_integers(option: str, text: str, otherwise: str = "") -> tuple[int, ...]:
    """``"12,21"`` as ``(12, 21)``; ValueError, which names the option, if it is no list of
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


#: Options whose text holds several values.
_SPLIT = {"layers": parse_layers, "measures": parse_names, "drop_tags": parse_names}
