"""Every option of the measure, in one frozen, validated, hashable place."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from estime_metric._version import __version__

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack

#: The paper's encoder (section 2) and the layer of its best row, ESTIME-21.
PAPER_MODEL = "bert-large-uncased-whole-word-masking"
PAPER_LAYER = 21
PAPER_DEPTH = 24

#: The name of the small encoder that ships with the package.
EMBEDDED_MODEL = "embedded"

UNITS = ("token", "word")
SPLITTERS = ("regex", "nltk")
TAGGERS = ("nltk",)

#: Names of all measures; ``estime_metric.engine.measures`` says what they are.
BASE_MEASURES = (
    "alarms",
    "alarm_rate",
    "alarms_adjusted",
    "winners",
    "unsupported",
    "unsupported_rate",
    "overlap",
    "tokens",
    "coverage",
)
#: Those for which every unit of the summary is encoded, also units that do not occur in the source.
ALL_UNIT_MEASURES = ("alarms_alltokens", "soft", "coherence")

#: Direction of the measures that judge a summary; the others say how long it is and how much of it is checked.
HIGHER_IS_BETTER = {
    "alarms": False,
    "alarm_rate": False,
    "alarms_adjusted": False,
    "winners": False,
    "unsupported": False,
    "unsupported_rate": False,
    "alarms_alltokens": False,
    "soft": True,
    "coherence": True,
}

#: Below this share of checked units, no winner is declared: too little of the summaries was checked.
LOW_COVERAGE = 0.5

DTYPES = ("float32", "bfloat16", "float16")

#: What the preset `EstimeConfig.fast` changes of the paper's setting.
FAST = {"distance": 2}


class EstimeOptions(TypedDict, total=False):
    """The keywords that `EstimeConfig` takes, and with it whatever scores. That class says what they mean."""

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
    dtype: Literal["float32", "bfloat16", "float16"] | str | torch.dtype
    device: str | torch.device | None
    token_budget: int | None


@dataclass(frozen=True)
class EstimeConfig:
    """Options of ESTIME. Frozen, hashable, and refused by name where a value makes no sense.

    Args:
        model: name on the Hugging Face Hub, local folder, or ``"embedded"`` for the small encoder that ships with
            the package. The default is the paper's encoder (section 2).
        revision: commit, tag or branch of a Hub model; ``None`` takes the Hub's default branch. A local folder and
            ``"embedded"`` have none.
        layers: hidden layer(s) that embeddings are read from, one integer or several; 0 is the embedding layer's
            output, ``k`` the output of block ``k``. Several layers cost one run to the deepest, also ``"all"`` of them
            (appendix A). ``None`` takes layer
            21 of the paper's encoder, the layer chosen for ``"embedded"``, ``round(21 / 24 * blocks)`` of any other.
        unit: what is masked and compared: ``"token"`` is the paper's, ``"word"`` that of the authors' released code.
        window: longest run of tokens the encoder sees at once, special tokens not counted (``W``, section 2).
        margin: tokens at a window's edge that are never masked there, unless the edge is the text's own
            (``M``, section 2).
        distance: least distance of two masked units in one window (``L``, section 2).
        normalize: scale embeddings to length one before the dot product (appendix C); the paper does not.
        splitter: text -> words: ``"regex"``, which needs no data, ``"nltk"`` (the released code's choice; extra
            ``nltk``), or any callable from a text to its words in order. Used by the unit ``"word"`` and the tagger;
            refused where there is neither.
        tagger: words -> parts of speech: ``"nltk"`` (extra ``nltk``) or any callable from a list of words to a tag
            for each, or to (word, tag) pairs; ``None`` for none.
        keep_tags: only units of these parts of speech are used, on both sides; ``None`` for all, and an empty set
            keeps none.
        drop_tags: units of these parts of speech are left out on both sides (appendix E), whatever ``keep_tags`` says;
            ``None`` or empty for none.
        measures: the measures to compute beside ``BASE_MEASURES``, which cost nothing more: any of
            ``ALL_UNIT_MEASURES``. With the unit ``"token"`` a summary that has tokens which do not occur in the source
            is encoded once more for them, so that asking for more measures never changes the others.
        soft_model: encoder whose input embeddings ``soft`` compares, as ``model``; it must have the vocabulary of
            ``model``. ``None`` takes those of ``model`` itself (the released code: ``"bert-base-uncased"``).
        soft_revision: its revision, as ``revision``.
        dtype: ``"float32"``, ``"bfloat16"`` or ``"float16"``, or torch's dtype of that name, for the encoder; dot
            products are float32 always.
        device: where the encoder runs, as ``torch.device`` takes it; ``None`` takes a CUDA device if there is one,
            else the CPU.
        token_budget: most tokens in one forward pass, padding included; ``None`` takes a value that suits the device.
            It changes memory and speed, never a score.

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
        _require_text("model", self.model)
        for name in ("revision", "soft_model", "soft_revision"):
            if getattr(self, name) is not None:
                _require_text(name, getattr(self, name))
        object.__setattr__(self, "layers", _layer_tuple(self.layers))
        _require_choice("unit", self.unit, UNITS)
        for name, least in (("margin", 0), ("window", 1), ("distance", 1)):
            object.__setattr__(self, name, _integer(name, getattr(self, name), least))
        if self.window <= 2 * self.margin:
            raise ValueError(
                f"Expected argument `window` to be more than twice `margin` ({self.margin}), but got {self.window}."
            )
        if not isinstance(self.normalize, bool):
            raise TypeError(f"Expected argument `normalize` to be a bool, but got {self.normalize!r}.")
        _require_callable("splitter", self.splitter, SPLITTERS)
        if self.tagger is not None:
            _require_callable("tagger", self.tagger, TAGGERS)
        if self.splitter != SPLITTERS[0] and not self.splits_words:
            raise ValueError(
                f"Expected argument `unit` to be 'word', or `tagger` to be set, where `splitter` is "
                f"{_callable_name(self.splitter)!r}, but got the unit 'token' and no tagger: nothing would be split."
            )
        for name in ("keep_tags", "drop_tags"):
            tags = getattr(self, name)
            if tags is not None:
                object.__setattr__(self, name, _tag_set(name, tags))
                if self.tagger is None:
                    raise ValueError(f"Expected argument `tagger` to be set where `{name}` is, but got None.")
        object.__setattr__(self, "measures", _measure_tuple(self.measures))
        object.__setattr__(self, "dtype", _dtype_name(self.dtype))
        if self.device is not None:
            object.__setattr__(self, "device", str(self.device))
        if self.token_budget is not None:
            object.__setattr__(self, "token_budget", _integer("token_budget", self.token_budget, least=1))

    @property
    def layer_tuple(self) -> tuple[int, ...]:
        """The layers as a tuple; empty where they are left open."""
        return self.layers if isinstance(self.layers, tuple) else ()

    @classmethod
    def from_options(cls, config: EstimeConfig | None, options: Mapping[str, Any]) -> EstimeConfig:
        """``config`` (or the defaults) with ``options`` laid over it.

        Raises:
            TypeError: ``config`` is no ``EstimeConfig``, or an option has no such name; the message names the one that
                was probably meant.
        """
        if config is None:
            config = cls()
        elif not isinstance(config, EstimeConfig):
            raise TypeError(f"Expected argument `config` to be an EstimeConfig, but got {type(config).__name__}.")
        for name in options:
            if name not in OPTIONS:
                meant = similar_option(name)
                hint = f" Did you mean `{meant}`?" if meant else ""
                raise TypeError(f"Expected an option among {', '.join(OPTIONS)}, but got `{name}`.{hint}")
        return dataclasses.replace(config, **options)

    @classmethod
    def fast(cls, **options: Unpack[EstimeOptions]) -> EstimeConfig:
        """The preset for many pairs: every second token masked instead of every eighth.

        It takes about a quarter of the encoder's work; ``dtype="bfloat16"`` takes less still on some processors. The
        measure is another one than the paper's: docs/speed.md says what it keeps. Its signature says ``preset:fast``,
        and so does that of any configuration of these values.

        Args:
            options: further options, as for the class; they win over the preset's.

        Example:
            >>> EstimeConfig.fast(model="embedded").distance
            2
        """
        return cls.from_options(None, {**FAST, **options})

    @property
    def splits_words(self) -> bool:
        """Whether texts are split into words: for the unit ``"word"``, and for the tagger."""
        return self.unit == "word" or self.tagger is not None

    @property
    def needs_every_unit(self) -> bool:
        """Whether a measure is asked for that needs every unit of the summary encoded."""
        return any(name in ALL_UNIT_MEASURES for name in self.measures)

    def signature(self) -> str:
        """One line that says how a score came about: equal signatures, equal measure.

        Options that cannot change a score (device, token budget) are left out. A local folder goes by its last part;
        its revision is a hash of its content. Before the encoder is loaded, revision and layers may still be open;
        they then read ``default``. The signature of a result is complete.

        Example:
            >>> EstimeConfig(layers=21, revision="abc").signature()
            ... # doctest: +ELLIPSIS
            'ESTIME|model:bert-large-uncased-whole-word-masking@abc|layers:21|unit:token|window:450|...|version:...'
        """
        parts = {
            "model": _versioned(self.model, self.revision),
            "layers": ",".join(map(str, self.layer_tuple)) or str(self.layers or "default"),
            "unit": self.unit,
            "window": str(self.window),
            "margin": str(self.margin),
            "distance": str(self.distance),
            "normalize": "yes" if self.normalize else "no",
            "dtype": self.dtype,
        }
        if self.splits_words:
            parts["splitter"] = _callable_name(self.splitter)
        if self.tagger is not None:
            parts["tagger"] = _callable_name(self.tagger)
            parts["keep"] = "all" if self.keep_tags is None else _escape(",".join(sorted(self.keep_tags)))
            parts["drop"] = _escape(",".join(sorted(self.drop_tags or ())))
        if "soft" in self.measures:
            parts["soft"] = "own" if self.soft_model is None else _versioned(self.soft_model, self.soft_revision)
        if all(getattr(self, name) == value for name, value in FAST.items()):
            parts["preset"] = "fast"
        parts["version"] = __version__
        return "|".join(["ESTIME", *(f"{name}:{value}" for name, value in parts.items())])


#: Names of all options.
OPTIONS = tuple(field.name for field in dataclasses.fields(EstimeConfig))


def similar_option(name: str) -> str | None:
    """The option that ``name`` was probably meant to be, if any.

    Example:
        >>> similar_option("layer")
        'layers'
    """
    return next(iter(get_close_matches(name, OPTIONS, n=1, cutoff=0.8)), None)


def default_layer(blocks: int) -> int:
    """The layer at the paper's relative depth, ``round(21 / 24 * blocks)``, in an encoder of that many blocks.

    Example:
        >>> [default_layer(blocks) for blocks in (24, 12, 6, 2)]
        [21, 10, 5, 2]
    """
    return round(PAPER_LAYER / PAPER_DEPTH * blocks)


def _layer_tuple(layers: Any) -> tuple[int, ...] | str | None:
    if layers is None or (isinstance(layers, str) and layers == "all"):
        return layers
    several = isinstance(layers, Iterable) and not isinstance(layers, (str, bytes)) and getattr(layers, "ndim", 1) > 0
    numbers = tuple(_as_integer(number) for number in (layers if several else (layers,)))
    if None in numbers:
        raise TypeError(f"Expected argument `layers` to be an integer or several, but got {layers!r}.")
    found = tuple(number for number in numbers if number is not None)
    if not found:
        raise ValueError("Expected argument `layers` to name at least one layer, but got none.")
    if min(found) < 0:
        raise ValueError(f"Expected argument `layers` to hold no negative number, but got {layers!r}.")
    if len(set(found)) < len(found):
        raise ValueError(f"Expected argument `layers` to name each layer once, but got {layers!r}.")
    return found


def _measure_tuple(measures: Any) -> tuple[str, ...]:
    if not isinstance(measures, Iterable):
        raise TypeError(f"Expected argument `measures` to be a name or several, but got {measures!r}.")
    names = (measures,) if isinstance(measures, str) else tuple(measures)
    for name in names:
        _require_choice("measures", name, (*BASE_MEASURES, *ALL_UNIT_MEASURES))
    return tuple(dict.fromkeys(names))


def _tag_set(name: str, tags: Any) -> frozenset[str]:
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise TypeError(f"Expected argument `{name}` to be a set of tags, but got {tags!r}.")
    found = frozenset(tags)
    for tag in found:
        _require_text(name, tag)
    return found


def _dtype_name(dtype: Any) -> str:
    """The name of a dtype; torch's own are recognized by theirs, since importing torch takes its time."""
    name = str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype
    if name not in DTYPES:
        raise ValueError(f"Expected argument `dtype` to be one of {', '.join(DTYPES)}, but got {dtype!r}.")
    return str(name)


def _versioned(model: str, revision: str | None) -> str:
    """Name and revision for the signature; a revision that hashes a folder's content marks a folder."""
    name = Path(model).name if revision is not None and revision.startswith("sha256-") else model
    return f"{_escape(name)}@{_escape(revision or 'default')}"


def _callable_name(function: Any) -> str:
    """A name for the signature; two callables of one name cannot be told apart by it."""
    if isinstance(function, str):
        return function
    module = getattr(function, "__module__", None) or type(function).__module__  # str.split has none
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return _escape(f"{module}.{name}")


def _require_callable(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not callable(value) and value not in choices:
        raise ValueError(
            f"Expected argument `{name}` to be one of {', '.join(choices)} or a callable, but got {value!r}."
        )


def _require_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"Expected argument `{name}` to be a str, but got {type(value).__name__}.")
    if not value.strip():
        raise ValueError(f"Expected argument `{name}` to be a name, but got {value!r}.")


def _require_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"Expected argument `{name}` to be one of {', '.join(choices)}, but got {value!r}.")


def _integer(name: str, value: Any, least: int) -> int:
    number = _as_integer(value)
    if number is None:
        raise TypeError(f"Expected argument `{name}` to be an integer, but got {value!r}.")
    if number < least:
        raise ValueError(f"Expected argument `{name}` to be at least {least}, but got {value}.")
    return number


def _as_integer(value: Any) -> int | None:
    """An integer of Python, NumPy or torch as Python's; ``None`` for anything else, also for a bool."""
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _escape(text: str) -> str:
    """Keeps a name from breaking the signature's line: ``%``, ``|``, ``@`` and control characters as ``%XX``."""
    return "".join(f"%{ord(char):02X}" if char in "%|@" or ord(char) < 32 else char for char in text)
