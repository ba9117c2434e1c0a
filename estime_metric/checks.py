"""Checks of user input. Each error names the argument, the index, what was expected and what the
caller passed.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from estime_metric.passages import joined, passage_problem

_SIMILAR_WORD = 0.8  # of a word in a name, at least


def check_texts(name: str, texts: Any) -> list[str]:
    """Returns ``texts`` as a list of strings. Anything else raises TypeError; a lone surrogate, which no
    tokenizer accepts, raises ValueError.
    """
    return [
        _string(name, text, "contain only strings", index)
        for index, text in enumerate(_listed(name, texts))
    ]


def _listed(name: str, texts: Any) -> list[Any]:
    if isinstance(texts, (str, bytes)):
        raise TypeError(
            f"Expected argument `{name}` to be a list of strings, but got a single {type(texts).__name__}."
        )
    unordered = isinstance(texts, (Mapping, set, frozenset))
    # Iterating over a table gives its rows or the names of its columns; an array without axes
    # cannot be iterated over.
    if (
        unordered
        or not isinstance(texts, Iterable)
        or getattr(texts, "ndim", 1) != 1
        or hasattr(texts, "columns")
    ):
        hint = "; pass one of its columns" if hasattr(texts, "columns") else ""
        raise TypeError(
            f"Expected argument `{name}` to be a list of strings, but got {type(texts).__name__}{hint}."
        )
    return list(texts)


def check_text(name: str, text: Any, index: int | None = None) -> str:
    """Returns ``text``. Raises TypeError if it is not a string, ValueError if it contains a lone
    surrogate. ``index`` is its position, for the message.
    """
    return _string(name, text, "be a str", index)


def check_sources(name: str, texts: Any) -> list[str]:
    """As `check_texts`; a source in passages is joined. A text without a letter or digit raises ValueError,
    because no summary was made from it.
    """
    listed = enumerate(_listed(name, texts))
    checked = check_texts(name, [_joined(name, text, index) for index, text in listed])
    for index, text in enumerate(checked):
        _check_has_words(name, text, index)
    return checked


def check_source(name: str, text: Any, index: int | None = None) -> str:
    """As `check_text`; passages are joined. A text without a letter or digit raises ValueError."""
    checked = check_text(name, _joined(name, text, index), index)
    _check_has_words(name, checked, index)
    return checked


def _joined(name: str, source: Any, index: int | None) -> Any:
    if problem := passage_problem(source):
        raise TypeError(
            f"Expected argument `{name}` to have text or lists of texts as sources, but "
            f"{problem}{_at(index)}."
        )
    return joined(source)


def has_words(text: str) -> bool:
    """Whether a text has a letter or a digit, as every source must."""
    return any(map(str.isalnum, text))


def _check_has_words(name: str, text: str, index: int | None) -> None:
    if not has_words(text):
        came = repr(text[:20]) if text else "an empty string"
        raise ValueError(
            f"Expected argument `{name}` to contain words, but got {came}{_at(index)}."
        )


def _string(name: str, text: Any, expected: str, index: int | None) -> str:
    if not isinstance(text, str):
        came = f"{type(text).__name__}{_at(index)}"
        raise TypeError(f"Expected argument `{name}` to {expected}, but got {came}.")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            came = f"the lone surrogate {text[error.start]!r}{_at(index)}"
            raise ValueError(
                f"Expected argument `{name}` to be valid Unicode, but got {came}."
            ) from error
    return text


def _at(index: int | None) -> str:
    """The position of a text, for a message."""
    return "" if index is None else f" at index {index}"


def check_pairs(
    predictions: Any, sources: Any, name: str = "predictions"
) -> tuple[list[str], list[str]]:
    """Applies `check_texts` and `check_sources`, and raises ValueError if the lengths differ. Errors
    call the summaries ``name``.
    """
    summaries, texts = check_texts(name, predictions), check_sources("sources", sources)
    if len(summaries) != len(texts):
        came = f"{len(summaries)} and {len(texts)}"
        raise ValueError(
            f"Expected arguments `{name}` and `sources` to have the same length, but got {came}."
        )
    return summaries, texts


def check_choice(name: str, value: Any, choices: Collection[Any]) -> Any:
    """Returns a value. Raises ValueError if it is not one of ``choices``; the message suggests a similar
    one.
    """
    if value not in tuple(choices):  # a value that cannot be hashed is not in a dict either
        listed = ", ".join(map(str, choices))
        raise ValueError(
            f"Expected argument `{name}` to be one of {listed}, but got {value!r}."
            f"{did_you_mean(value, choices)}"
        )
    return value


def did_you_mean(
    value: Any, names: Iterable[Any], form: str = "{!r}", similarity: float = 0.6
) -> str:
    """The end of a message about a name that does not exist: a question with the most similar of
    ``names``, written in ``form``, or with a name that has a similar word in it, or nothing if none has
    the least ``similarity`` (`difflib`).

    Example:
        >>> did_you_mean("inconsistancy", ["alarms", "inconsistency"])
        " Did you mean 'inconsistency'?"
        >>> did_you_mean("copyed", ["alarms", "copied_density"])
        " Did you mean 'copied_density'?"
    """
    texts = [name for name in names if isinstance(name, str)]
    name_by_word = {word: name for name in reversed(texts) for word in name.split("_")}
    if not isinstance(value, str):
        return ""
    similar = get_close_matches(value, texts, n=1, cutoff=similarity)
    words = get_close_matches(value, name_by_word, n=1, cutoff=max(similarity, _SIMILAR_WORD))
    similar += [name_by_word[word] for word in words]
    return f" Did you mean {form.format(similar[0])}?" if similar else ""


def check_callable(name: str, value: Any, choices: Sequence[str]) -> Any:
    """Returns a value. Raises ValueError if it is neither callable nor one of ``choices``."""
    if not callable(value) and value not in choices:
        listed = ", ".join(choices)
        raise ValueError(
            f"Expected argument `{name}` to be one of {listed} or a callable, but got {value!r}."
        )
    return value


def check_name(name: str, value: Any) -> str:
    """Returns a value. Raises TypeError if it is not a string, ValueError if it is blank."""
    if not isinstance(value, str):
        raise TypeError(f"Expected argument `{name}` to be a str, but got {type(value).__name__}.")
    if not value.strip():
        raise ValueError(f"Expected argument `{name}` not to be blank, but got {value!r}.")
    return value


def boolean(name: str, value: Any) -> bool:
    """Returns a bool. Raises TypeError for any other value."""
    if not isinstance(value, bool):
        raise TypeError(f"Expected argument `{name}` to be a bool, but got {value!r}.")
    return value


def integer(name: str, value: Any, least: int | None = None) -> int:
    """Converts an integer of Python, NumPy or torch to Python's. Any other value raises TypeError, an
    integer below ``least`` ValueError.
    """
    number = _as_integer(value)
    if number is None:
        raise TypeError(f"Expected argument `{name}` to be an integer, but got {value!r}.")
    if least is not None and number < least:
        raise ValueError(f"Expected argument `{name}` to be at least {least}, but got {value}.")
    return number


def check_window(window: int | None, margin: int | None) -> None:
    """Raises ValueError unless ``window`` is more than twice ``margin``, because otherwise some positions
    could never be masked; ``None`` is not known yet.
    """
    if window is not None and margin is not None and window <= 2 * margin:
        raise ValueError(
            f"Expected argument `window` to be more than twice `margin` ({margin}), but got {window}."
        )


def layer_tuple(name: str, layers: Any) -> tuple[int, ...] | str:
    """Returns one or several layers as a tuple, ``"all"`` unchanged. Any other value raises TypeError or
    ValueError.
    """
    if isinstance(layers, str) and layers == "all":
        return layers
    several = (
        isinstance(layers, Iterable)
        and not isinstance(layers, (str, bytes))
        and getattr(layers, "ndim", 1) > 0
    )
    numbers = [_as_integer(number) for number in (layers if several else (layers,))]
    named = tuple(number for number in numbers if number is not None)
    if len(named) < len(numbers):
        raise TypeError(
            f"Expected argument `{name}` to be one or more integers, but got {layers!r}."
        )
    if not named:
        raise ValueError(f"Expected argument `{name}` to name at least one layer, but got none.")
    if min(named) < 0:
        raise ValueError(
            f"Expected argument `{name}` to contain only non-negative integers, but got {layers!r}."
        )
    if len(set(named)) < len(named):
        raise ValueError(f"Expected argument `{name}` to name each layer once, but got {layers!r}.")
    return named


def check_one_layer(layers: Any, reason: str = "") -> None:
    """Raises ValueError if the `layers` of a configuration are several; ``reason`` says what needs
    one, such as ``" with --worst"``.
    """
    listed = layers if isinstance(layers, tuple) else (layers,)
    if len(listed) > 1 or layers == "all":
        raise ValueError(
            f"Expected argument `layers` to be one layer{reason}, but got "
            f"{', '.join(map(str, listed))}."
        )


def listed_names(argument: str, names: Any) -> tuple[str, ...]:
    """Returns several names, or the names in a string with commas between them, as a tuple. Raises
    TypeError for any other value.
    """
    if not isinstance(names, Iterable):
        raise TypeError(
            f"Expected argument `{argument}` to be one or more names, but got {names!r}."
        )
    listed = tuple(map(str.strip, names.split(","))) if isinstance(names, str) else tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise TypeError(
                f"Expected argument `{argument}` to contain only names, but got {name!r}."
            )
    return listed


def measure_tuple(name: str, measures: Any, choices: Collection[str]) -> tuple[str, ...]:
    """Returns the `listed_names` of measures without repetitions. Raises ValueError unless each is one of
    ``choices``.
    """
    names = listed_names(name, measures)
    for measure in names:
        check_choice(name, measure, choices)
    return tuple(dict.fromkeys(names))


def tag_tuple(name: str, tags: Any) -> tuple[str, ...]:
    """Returns tags sorted, each once: `datasets` looks results up by a hash of the pickled options, and sets
    are pickled in another order in each process. A single string or a value that is not iterable raises
    TypeError; a tag must pass `check_name`.
    """
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise TypeError(f"Expected argument `{name}` to be a set of tags, but got {tags!r}.")
    return tuple(sorted({check_name(name, tag) for tag in tags}))


def dtype_name(name: str, dtype: Any, choices: Sequence[str]) -> str:
    """Returns the name of a dtype, which may be torch's or a string. Raises ValueError unless it is one of
    ``choices``. Does not import torch, because that is slow.
    """
    named = str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype
    return str(check_choice(name, named, choices))


def _as_integer(value: Any) -> int | None:
    """Returns an integer, or ``None`` for anything else, including a bool."""
    if isinstance(value, bool) or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
