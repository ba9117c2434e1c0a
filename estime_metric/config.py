"""Every option of the measure, in one frozen, validated, hashable object."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from estime_metric import checks
from estime_metric._version import __version__
from estime_metric.measures import BASE_MEASURES, MEASURES, REPORTED
from estime_metric.signature import Signature, callable_name, escaped, versioned

if TYPE_CHECKING:
    import torch

#: The paper's encoder (section 2), the layer of its best row (ESTIME-21), and its number of blocks.
PAPER_MODEL, PAPER_LAYER, PAPER_DEPTH = "bert-large-uncased-whole-word-masking", 21, 24
PAPER = "paper"  # its short name

#: The paper's masking schedule: the largest window and its margin, in tokens, and the distance.
PAPER_WINDOW, PAPER_MARGIN, PAPER_DISTANCE = 450, 50, 8

#: The bundled encoders: the default, and a small one for tests and slow machines, which has a
#: prediction head.
EMBEDDED_MODEL, EMBEDDED_SMALL_MODEL = "embedded", "embedded-small"
EMBEDDED_DISTANCE = 2  # at which they were trained and validated

UNITS = ("token", "word")
SPLITTERS = ("regex", "nltk")
TAGGERS = ("nltk",)
AUTO = "auto"  # bfloat16 if the device is fast in it, otherwise float32
DTYPES = ("float32", "bfloat16", "float16", AUTO)

LOW_COVERAGE = 0.5  # below this fraction of checked units, too little was checked to compare by


class EstimeOptions(TypedDict, total=False):
    """The keyword arguments of `EstimeConfig` and of everything that scores."""

    model: str
    revision: str | None
    layers: int | Iterable[int] | Literal["all"] | str | None
    unit: Literal["token", "word"] | str
    window: int | None
    margin: int | None
    distance: int | None
    normalize: bool
    splitter: Literal["regex", "nltk"] | str | Callable[[str], Sequence[str]]
    tagger: Literal["nltk"] | str | Callable[[list[str]], Sequence[Any]] | None
    keep_tags: Iterable[str] | None
    drop_tags: Iterable[str] | None
    min_tokens: int | None
    measures: str | Iterable[str]
    soft_model: str | None
    soft_revision: str | None
    dtype: Literal["float32", "bfloat16", "float16", "auto"] | str | torch.dtype
    device: str | torch.device | None
    token_budget: int | None


def _option(default: Any, check: Callable[[str, Any], Any], **parameter: Any) -> Any:
    """A field with its ``check``, a function from the name and a value to the value that is kept, for any
    value but the default ``None``; and with the parameter of the command line that sets it.
    """
    return field(default=default, metadata={"check": check, "parameter": parameter})


def _model_name(name: str, model: Any) -> str:
    return PAPER_MODEL if model == PAPER else checks.check_name(name, model)


@dataclass(frozen=True)
class EstimeConfig:
    """Options of ESTIME: frozen, hashable, validated.

    Args:
        model: a bundled encoder, a name on the Hugging Face Hub, or a local folder. ``"embedded"``,
            the default, is the bundled English encoder; ``"embedded-small"`` is for quick tests and
            slow machines. ``"paper"`` selects the paper's setting: its encoder (section 2), layer
            21 and distance 8.
        revision: commit, tag or branch of a Hub model; ``None`` selects the Hub's default branch.
        layers: the hidden layer or layers to read embeddings from: an integer, several integers, or
            ``"all"`` (appendix A); 0 is the embedding layer's output, ``k`` the output of block ``k``.
            Several layers need only one forward pass, up to the deepest one. ``None`` selects layer
            21 for the paper's encoder, the recommended layer for a bundled encoder, and
            ``round(21 / 24 * blocks)`` for any other encoder.
        unit: what is masked and compared: ``"token"`` as in the paper, or ``"word"`` as in the
            authors' released code.
        window: maximum number of tokens that the encoder processes together, excluding special
            tokens (``W``, section 2). ``None`` selects 450, or as many as the encoder allows if
            that is less.
        margin: number of tokens at each edge of a window that are not masked in that window, unless
            the edge is the start or end of the text (``M``, section 2). ``None`` selects a ninth of
            the window, at most 50.
        distance: minimum distance between two masked units in a window (``L``, section 2). ``None``
            selects 2 for a bundled encoder and 8, as in the paper, for any other encoder.
        normalize: scale embeddings to length one before the dot product (appendix C); the paper
            does not.
        splitter: how a text is split into words (used by the unit ``"word"`` and by the tagger):
            ``"regex"``, ``"nltk"`` (as in the released code; requires the extra ``nltk``), or a
            callable that is passed a text and returns its words in order.
        tagger: how words get their parts of speech: ``"nltk"`` (requires the extra ``nltk``), or a
            callable that is passed a list of words and returns a tag for each, or (word, tag)
            pairs; ``None`` uses no tags.
        keep_tags: if set, only units with these part-of-speech tags are used, in both texts.
            ``None`` keeps all units; an empty set keeps none.
        drop_tags: units with these part-of-speech tags are excluded from both texts (appendix E),
            even if ``keep_tags`` contains them.
        min_tokens: number of tokens below which a summary counts as unfinished: each missing token
            weighs as much as a new word in ``inconsistency``, which becomes ``1 - (1 - inconsistency)
            * tokens / min_tokens``. Otherwise a few words that the source has would win a curve; half
            of the mean length of the references is a good value. With the unit ``"word"`` it is a
            number of words. ``None`` sets no limit.
        measures: further measures to report, in addition to ``BASE_MEASURES``. They do not change
            the values of the others.
        soft_model: encoder that provides the input embeddings for ``soft`` (same format as
            ``model``); it must have the vocabulary of ``model``. ``None`` uses ``model`` itself (the
            released code: ``"bert-base-uncased"``).
        soft_revision: revision of ``soft_model``, as ``revision``.
        dtype: ``"float32"``, ``"bfloat16"`` or ``"float16"``, or torch's dtype of that name, for
            the encoder; dot products are always float32. ``"auto"`` is bfloat16 if the device has
            it in hardware and is faster with it (under Linux a CPU with Intel's AMX, AMD's
            AVX512-BF16 or Arm's bf16; most GPUs), otherwise float32; the signature of a result says
            which of the two it was.
        device: where the encoder runs, in the format of ``torch.device``; ``None`` selects a CUDA device
            if there is one, otherwise the CPU.
        token_budget: maximum number of tokens per forward pass, including padding. ``None`` selects
            a value suitable for the device. It affects memory and speed; scores change only by
            rounding (see `EstimeResult.ties`).

    Raises:
        TypeError, ValueError: an option is of the wrong type or out of range; the message names it.

    Example:
        >>> EstimeConfig(layers=[3, 5]).layers
        (3, 5)
        >>> EstimeConfig(window=90, margin=50)
        Traceback (most recent call last):
        ...
        ValueError: Expected argument `window` to be more than twice `margin` (50), but got 90.
    """

    model: str = _option(
        EMBEDDED_MODEL,
        _model_name,
        help="Encoder: a bundled encoder ('embedded' or 'embedded-small'), a Hub name, a local "
        "folder, or 'paper' for the paper's setting. (default: embedded)",
        alias="-m",
    )
    revision: str | None = _option(
        None, checks.check_name, help="Commit, tag or branch of a Hub model."
    )
    layers: int | tuple[int, ...] | str | None = _option(
        None,
        checks.layer_tuple,
        help="Hidden layers: 21, 12,21,24 or 'all'. (default: by model)",
        alias="-l",
    )
    unit: str = _option(
        "token",
        partial(checks.check_choice, choices=UNITS),
        help=f"What is compared: {', '.join(UNITS)}. (default: token)",
    )
    window: int | None = _option(None, partial(checks.integer, least=1))
    margin: int | None = _option(None, partial(checks.integer, least=0))
    distance: int | None = _option(
        None,
        partial(checks.integer, least=1),
        help="Minimum distance between two units masked in the same pass. (default: 2 for a "
        "bundled encoder, otherwise 8)",
    )
    normalize: bool = _option(False, checks.boolean)
    splitter: str | Callable[[str], Sequence[str]] = _option(  # noqa: RUF009 - a field
        "regex", partial(checks.check_callable, choices=SPLITTERS)
    )
    tagger: str | Callable[[list[str]], Sequence[Any]] | None = _option(  # noqa: RUF009 - a field
        None, partial(checks.check_callable, choices=TAGGERS)
    )
    keep_tags: tuple[str, ...] | None = _option(None, checks.tag_tuple)
    drop_tags: tuple[str, ...] | None = _option(None, checks.tag_tuple)
    min_tokens: int | None = _option(
        None,
        partial(checks.integer, least=1),
        help="Each token that a summary has fewer counts as a new word in inconsistency. (default: none)",
    )
    measures: tuple[str, ...] = _option(
        (),
        partial(checks.measure_tuple, choices=MEASURES),
        help=f"Measures to report in addition to {', '.join(REPORTED)}, comma-separated: "
        f"{', '.join(name for name in MEASURES if name not in REPORTED)}. (default: none)",
    )
    soft_model: str | None = _option(None, _model_name)
    soft_revision: str | None = _option(None, checks.check_name)
    dtype: str = _option(
        "float32",
        partial(checks.dtype_name, choices=DTYPES),
        help=f"{', '.join(DTYPES)}. (default: float32)",
    )
    device: str | None = _option(
        None,
        lambda _, device: str(device),
        help="cpu, cuda, cuda:1, mps ... (default: cuda if available, otherwise cpu)",
    )
    token_budget: int | None = _option(None, partial(checks.integer, least=1))

    def __post_init__(self) -> None:
        for option in dataclasses.fields(self):
            value = getattr(self, option.name)
            if value is not None or option.default is not None:
                checked = option.metadata["check"](option.name, value)
                object.__setattr__(self, option.name, checked)
        checks.check_window(self.window, self.margin)
        if self.splitter != SPLITTERS[0] and not self.splits_words:
            raise ValueError(
                f"Expected argument `unit` to be 'word' or `tagger` to be set if `splitter` is "
                f"{callable_name(self.splitter)!r}, but got unit 'token' and no tagger, so nothing would be split."
            )
        for name in ("keep_tags", "drop_tags"):
            if self.tagger is None and getattr(self, name) is not None:
                raise ValueError(
                    f"Expected argument `tagger` to be set if `{name}` is set, but got None."
                )

    @property
    def layer_tuple(self) -> tuple[int, ...]:
        """The layers as a tuple; empty if they are not resolved yet."""
        return self.layers if isinstance(self.layers, tuple) else ()

    @classmethod
    def from_options(cls, config: EstimeConfig | None, options: Mapping[str, Any]) -> EstimeConfig:
        """Returns ``config`` (or the defaults) updated with ``options``. Unknown options raise TypeError
        with a suggestion of a similar name.
        """
        if config is None:
            config = cls()
        elif not isinstance(config, EstimeConfig):
            hint = f" Did you mean model={config!r}?" if isinstance(config, str) else ""
            raise TypeError(
                f"Expected argument `config` to be an EstimeConfig, but got {type(config).__name__}.{hint}"
            )
        for name in options:
            if name not in OPTIONS:
                raise TypeError(
                    f"Expected an option of EstimeConfig ({', '.join(OPTIONS)}), but got `{name}`."
                    f"{similar_option(name)}"
                )
        return dataclasses.replace(config, **options)

    @property
    def reported_measures(self) -> tuple[str, ...]:
        """The measures that every row, dictionary and table has: ``BASE_MEASURES``, then ``measures``."""
        return tuple(dict.fromkeys((*BASE_MEASURES, *self.measures)))

    @property
    def schedule(self) -> dict[str, Any]:
        """Window, margin and distance by name; ``None`` if they are not resolved yet."""
        return {name: getattr(self, name) for name in ("window", "margin", "distance")}

    @property
    def splits_words(self) -> bool:
        """Whether texts are split into words, for the unit ``"word"`` or the tagger."""
        return self.unit == "word" or self.tagger is not None

    @property
    def needs_every_unit(self) -> bool:
        """Whether one of the measures needs the embeddings of all units of the summary."""
        return any(MEASURES[name].needs_every_unit for name in self.measures)

    def signature(self) -> Signature:
        """One line that identifies how a score was computed. Scores with equal signatures are
        comparable.

        The device and the token budget are not included. A local folder is identified by its name
        and a hash of its content. Until the encoder is loaded, revision, layers, window, margin and
        distance may be ``default``, and dtype may be ``auto``.

        Example:
            >>> EstimeConfig(model="paper", layers=21, revision="abc").signature()
            ... # doctest: +ELLIPSIS
            'ESTIME|model:bert-large-uncased-whole-word-masking@abc|layers:21|unit:token|window:default|...|version:...'
        """
        parts = {
            "model": versioned(self.model, self.revision),
            "layers": ",".join(map(str, self.layer_tuple)) or str(self.layers or "default"),
            "unit": self.unit,
            **{
                name: "default" if value is None else str(value)
                for name, value in self.schedule.items()
            },
            "normalize": "yes" if self.normalize else "no",
            "dtype": self.dtype,
        }
        if self.splits_words:
            parts["splitter"] = callable_name(self.splitter)
        if self.tagger is not None:
            parts["tagger"] = callable_name(self.tagger)
            parts["keep"] = "all" if self.keep_tags is None else escaped(",".join(self.keep_tags))
            parts["drop"] = escaped(",".join(self.drop_tags or ()))
        if "soft" in self.measures:
            parts["soft"] = (
                "own" if self.soft_model is None else versioned(self.soft_model, self.soft_revision)
            )
        if self.min_tokens is not None:
            parts["min_tokens"] = str(self.min_tokens)
        parts["version"] = __version__
        return Signature(
            "|".join(["ESTIME", *(f"{name}:{value}" for name, value in parts.items())])
        )


#: The names of all options: the fields of `EstimeConfig`.
OPTIONS = tuple(field.name for field in dataclasses.fields(EstimeConfig))

#: Other names for what an option does -> the option. The encoder determines the language, and the
#: distance how much work there is.
OTHER_NAMES = {
    "batch_size": "token_budget",
    "max_tokens": "token_budget",
    "min_length": "min_tokens",
    "min_words": "min_tokens",
    "lang": "model",
    "language": "model",
    "preset": "distance",
    "fast": "distance",
}


def similar_option(name: str, further: Iterable[str] = ()) -> str:
    """The end of a message about an option that does not exist: a question with the option, or one of
    the ``further`` ones, that was probably meant; empty if there is none.
    """
    if name in OTHER_NAMES:
        return f" Did you mean `{OTHER_NAMES[name]}`?"
    if similar := checks.did_you_mean(name, [*further, *OPTIONS], "`{}`", similarity=0.8):
        return similar
    for part in name.split("_"):
        for option in (part, f"{part}s"):
            if option in OPTIONS:
                return f" Did you mean `{option}`?"
    return ""


def default_layer(blocks: int) -> int:
    """The layer at the paper's relative depth, ``round(21 / 24 * blocks)``, in an encoder with the given
    number of blocks.
    """
    return round(PAPER_LAYER / PAPER_DEPTH * blocks)
