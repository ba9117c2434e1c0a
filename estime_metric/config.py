"""Every option of the measure, in one frozen, validated, hashable object."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from estime_metric import inputs
from estime_metric._version import __version__
from estime_metric.measures import MEASURES
from estime_metric.signature import Signature

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack

#: The paper's encoder (section 2), the layer of its best row, ESTIME-21, and its blocks.
PAPER_MODEL, PAPER_LAYER, PAPER_DEPTH = "bert-large-uncased-whole-word-masking", 21, 24

#: The encoders that ship: the recommended one, and one for tests, quick looks and slow machines
#: (with prediction head).
EMBEDDED_MODEL, EMBEDDED_SMALL_MODEL = "embedded", "embedded-small"

UNITS = ("token", "word")
SPLITTERS = ("regex", "nltk")
TAGGERS = ("nltk",)
AUTO = "auto"  # bfloat16 where the device is fast in it, else float32
DTYPES = ("float32", "bfloat16", "float16", AUTO)

LOW_COVERAGE = 0.5  # below this share of checked units no winner is declared
FAST = {"distance": 2}  # what the preset "fast" sets
PRESETS: dict[str, dict[str, Any]] = {"fast": FAST}  # name -> the options that it sets


class EstimeOptions(TypedDict, total=False):
    """The keywords of `EstimeConfig`, and of all that scores."""

    model: str
    revision: str | None
    layers: int | Iterable[int] | Literal["all"] | str | None
    unit: Literal["token", "word"] | str
    window: int
    margin: int
    distance: int
    normalize: bool
    splitter: Literal["regex", "nltk"] | str | Callable[[str], Sequence[str]]
    tagger: Literal["nltk"] | str | Callable[[list[str]], Sequence[Any]] | None
    keep_tags: Iterable[str] | None
    drop_tags: Iterable[str] | None
    measures: str | Iterable[str]
    soft_model: str | None
    soft_revision: str | None
    dtype: Literal["float32", "bfloat16", "float16", "auto"] | str | torch.dtype
    device: str | torch.device | None
    token_budget: int | None
    preset: Literal["fast"] | str | None


@dataclass(frozen=True)
class EstimeConfig:
    """Options of ESTIME: frozen, hashable, validated.

    Args:
        model: name on the Hugging Face Hub, local folder, or an encoder that ships with the
            package: ``"embedded"``, or ``"embedded-small"`` for quick looks and slow machines. The
            default is the paper's encoder (section 2).
        revision: commit, tag or branch of a Hub model; ``None`` takes the Hub's default branch.
        layers: hidden layer(s) that embeddings are read from, one integer, several, or ``"all"``
            (appendix A); 0 is the embedding layer's output, ``k`` the output of block ``k``.
            Several cost one run to the deepest. ``None`` takes layer 21 of the paper's encoder, the
            layer that an encoder of the package states, ``round(21 / 24 * blocks)`` of any other.
        unit: what is masked and compared: ``"token"`` is the paper's, ``"word"`` that of the
            authors' released code.
        window: longest run of tokens the encoder sees at once, special tokens not counted (``W``,
            section 2).
        margin: tokens at a window's edge that are never masked there, unless the edge is the text's
            own (``M``, section 2).
        distance: least distance of two masked units in one window (``L``, section 2).
        normalize: scale embeddings to length one before the dot product (appendix C); the paper
            does not.
        splitter: text -> words, for the unit ``"word"`` and the tagger: ``"regex"``, ``"nltk"``
            (the released code's; extra ``nltk``), or a callable from a text to its words in order.
        tagger: words -> parts of speech: ``"nltk"`` (extra ``nltk``) or a callable from a list of
            words to a tag for each, or to (word, tag) pairs; ``None`` for none.
        keep_tags: only units of these parts of speech are used, on both sides; ``None`` for all, an
            empty set for none.
        drop_tags: units of these parts of speech are left out on both sides (appendix E), whatever
            ``keep_tags`` says.
        measures: any of ``FURTHER_MEASURES``, computed beside ``BASE_MEASURES``, which they never
            change.
        soft_model: encoder whose input embeddings ``soft`` compares, as ``model``; it must have the
            vocabulary of ``model``. ``None`` takes those of ``model`` itself (the released code:
            ``"bert-base-uncased"``).
        soft_revision: its revision, as ``revision``.
        dtype: ``"float32"``, ``"bfloat16"`` or ``"float16"``, or torch's dtype of that name, for
            the encoder; dot products are always float32. ``"auto"`` is bfloat16 if the device has
            it in hardware and is faster with it (under Linux a CPU with Intel's AMX, AMD's
            AVX512-BF16 or Arm's bf16; most GPUs), otherwise float32; the signature of a result says
            which of the two it was.
        device: where the encoder runs, as ``torch.device`` takes it; ``None`` takes a CUDA device
            if there is one, else the CPU.
        token_budget: most tokens in one forward pass, padding included; ``None`` takes a value that
            suits the device. It changes memory and speed, and a score by rounding alone: see
            `EstimeResult.ties`.

    Raises:
        TypeError, ValueError: an option is of the wrong type or out of range; the message names it.

    Example:
        >>> EstimeConfig(model="embedded", layers=[3, 5]).layers
        (3, 5)
        >>> EstimeConfig(window=90, margin=50)
        Traceback (most recent call last):
        ...
        ValueError: Expected argument `window` to be more than twice `margin` (50), but got 90.
    """

    model: str = PAPER_MODEL
    revision: str | None = None
    layers: int | tuple[int, ...] | str | None = None
    unit: str = "token"
    window: int = 450
    margin: int = 50
    distance: int = 8
    normalize: bool = False
    splitter: str | Callable[[str], Sequence[str]] = "regex"
    tagger: str | Callable[[list[str]], Sequence[Any]] | None = None
    keep_tags: frozenset[str] | None = None
    drop_tags: frozenset[str] | None = None
    measures: tuple[str, ...] = ()
    soft_model: str | None = None
    soft_revision: str | None = None
    dtype: str = "float32"
    device: str | None = None
    token_budget: int | None = None

    def __post_init__(self) -> None:
        inputs.check_name("model", self.model)
        for name in ("revision", "soft_model", "soft_revision"):
            if (value := getattr(self, name)) is not None:
                inputs.check_name(name, value)
        self._set("layers", inputs.layer_tuple(self.layers))
        inputs.check_choice("unit", self.unit, UNITS)
        schedule = inputs.check_schedule(self.window, self.margin, self.distance)
        for name, value in zip(("window", "margin", "distance"), schedule, strict=True):
            self._set(name, value)
        if not isinstance(self.normalize, bool):
            raise TypeError(
                f"Expected argument `normalize` to be a bool, but got {self.normalize!r}."
            )
        inputs.check_callable("splitter", self.splitter, SPLITTERS)
        if self.tagger is not None:
            inputs.check_callable("tagger", self.tagger, TAGGERS)
        if self.splitter != SPLITTERS[0] and not self.splits_words:
            raise ValueError(
                f"Expected argument `unit` to be 'word', or `tagger` to be set, where `splitter` is "
                f"{callable_name(self.splitter)!r}, but got the unit 'token' and no tagger: nothing would be split."
            )
        for name in ("keep_tags", "drop_tags"):
            if (value := getattr(self, name)) is not None:
                self._set(name, inputs.tag_set(name, value))
                if self.tagger is None:
                    raise ValueError(
                        f"Expected argument `tagger` to be set where `{name}` is, but got None."
                    )
        self._set("measures", inputs.measure_tuple(self.measures, tuple(MEASURES)))
        self._set("dtype", inputs.dtype_name(self.dtype, DTYPES))
        if self.device is not None:
            self._set("device", str(self.device))
        if self.token_budget is not None:
            self._set("token_budget", inputs.integer("token_budget", self.token_budget, least=1))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def layer_tuple(self) -> tuple[int, ...]:
        """The layers as a tuple; empty if they are left open."""
        return self.layers if isinstance(self.layers, tuple) else ()

    @classmethod
    def from_options(cls, config: EstimeConfig | None, options: Mapping[str, Any]) -> EstimeConfig:
        """``config`` (or the defaults) with ``options`` in place of its own; refuses unknown ones,
        and suggests others.

        The option ``preset`` names an entry of ``PRESETS``: several options under one name. An
        option that is given by its own name wins over the preset.
        """
        if config is None:
            config = cls()
        elif not isinstance(config, EstimeConfig):
            raise TypeError(
                f"Expected argument `config` to be an EstimeConfig, but got {type(config).__name__}."
            )
        for name in options:
            if name not in OPTIONS:
                meant = similar_option(name)
                hint = f" Did you mean `{meant}`?" if meant else ""
                raise TypeError(
                    f"Expected an option among {', '.join(OPTIONS)}, but got `{name}`.{hint}"
                )
        own = {name: value for name, value in options.items() if name != _PRESET}
        if (preset := options.get(_PRESET)) is not None:
            inputs.check_choice(_PRESET, preset, PRESETS)
            own = {**PRESETS[preset], **own}
        return dataclasses.replace(config, **own)

    @classmethod
    def fast(cls, **options: Unpack[EstimeOptions]) -> EstimeConfig:
        """The preset for many pairs: every second token masked instead of every eighth, so a
        quarter of the work.

        Its scores differ from the paper's: docs/speed.md says how; the signature says
        ``preset:fast``. It stays in float32; add ``dtype="auto"`` for bfloat16 where that is faster.
        Options win. Everything that takes the options of `EstimeConfig` by name
        takes ``preset="fast"`` too.
        """
        return cls.from_options(None, {_PRESET: "fast", **options})

    @property
    def splits_words(self) -> bool:
        """Whether texts are split into words, for the unit ``"word"`` or the tagger."""
        return self.unit == "word" or self.tagger is not None

    @property
    def needs_every_unit(self) -> bool:
        """Whether a measure is asked for that needs every unit of the summary encoded."""
        return any(MEASURES[name].needs_every_unit for name in self.measures)

    @property
    def needs_fragments(self) -> bool:
        """Whether a measure is asked for that needs the extractive fragments of the summary."""
        return any(MEASURES[name].needs_fragments for name in self.measures)

    def signature(self) -> Signature:
        """One line that says how a score came about: equal signatures, equal measure.

        It leaves out device and token budget. A local folder is named by its last part and a hash
        of its content. Until the encoder is loaded, revision and layers may read ``default``, and
        dtype may read ``auto``.

        Example:
            >>> EstimeConfig(layers=21, revision="abc").signature()
            ... # doctest: +ELLIPSIS
            'ESTIME|model:bert-large-uncased-whole-word-masking@abc|layers:21|unit:token|window:450|...|version:...'
        """
        parts = {
            "model": versioned(self.model, self.revision),
            "layers": ",".join(map(str, self.layer_tuple)) or str(self.layers or "default"),
            "unit": self.unit,
            **{name: str(getattr(self, name)) for name in ("window", "margin", "distance")},
            "normalize": "yes" if self.normalize else "no",
            "dtype": self.dtype,
        }
        if self.splits_words:
            parts["splitter"] = callable_name(self.splitter)
        if self.tagger is not None:
            parts["tagger"] = callable_name(self.tagger)
            parts["keep"] = (
                "all" if self.keep_tags is None else _escape(",".join(sorted(self.keep_tags)))
            )
            parts["drop"] = _escape(",".join(sorted(self.drop_tags or ())))
        if "soft" in self.measures:
            parts["soft"] = (
                "own" if self.soft_model is None else versioned(self.soft_model, self.soft_revision)
            )
        if all(getattr(self, name) == value for name, value in FAST.items()):
            parts["preset"] = "fast"
        parts["version"] = __version__
        return Signature(
            "|".join(["ESTIME", *(f"{name}:{value}" for name, value in parts.items())])
        )


_PRESET = "preset"

#: The names of all options: the fields of `EstimeConfig`, and ``preset``.
OPTIONS = (*(field.name for field in dataclasses.fields(EstimeConfig)), _PRESET)

#: What other metrics call their options -> ours; a language is chosen by its encoder.
_ELSEWHERE = {
    "batch_size": "token_budget",
    "max_tokens": "token_budget",
    "lang": "model",
    "language": "model",
}


def similar_option(name: str) -> str | None:
    """The option that ``name`` was probably meant to be, if any."""
    parts = (
        option for part in name.split("_") for option in (part, f"{part}s") if option in OPTIONS
    )
    close = get_close_matches(name, OPTIONS, n=1, cutoff=0.8)
    return _ELSEWHERE.get(name) or next(iter(close), None) or next(parts, None)


def default_layer(blocks: int) -> int:
    """The layer at the paper's relative depth, ``round(21 / 24 * blocks)``, in an encoder of that
    many blocks.
    """
    return round(PAPER_LAYER / PAPER_DEPTH * blocks)


def versioned(model: str, revision: str | None) -> str:
    """Name and revision as a signature has them."""
    name = Path(model).name if revision is not None and revision.startswith("sha256-") else model
    return f"{_escape(name)}@{_escape(revision or 'default')}"


def callable_name(function: Any) -> str:
    """The name of a callable, or a name as it is; two callables of one name have the same
    signature.
    """
    if isinstance(function, str):
        return function
    module = (
        getattr(function, "__module__", None) or type(function).__module__
    )  # str.split has none
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return _escape(f"{module}.{name}")


def _escape(text: str) -> str:
    """``%``, ``|``, ``@`` and control characters as ``%XX``, so that no name breaks the signature's
    line.
    """
    return "".join(
        f"%{ord(char):02X}" if char in "%|@" or ord(char) < 32 else char for char in text
    )
