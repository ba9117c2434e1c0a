"""Folders of encoders: which files decide, what is wrong with one, and what the measure needs to know of
an encoder, wherever it comes from.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from estime_metric import embedded
from estime_metric.checks import did_you_mean
from estime_metric.config import (
    EMBEDDED_DISTANCE,
    PAPER,
    PAPER_DISTANCE,
    PAPER_MARGIN,
    PAPER_WINDOW,
    EstimeConfig,
)
from estime_metric.engine.encoder.memory import is_out_of_memory
from estime_metric.engine.masking import SpecialTokens


class EncoderUnavailableError(OSError):
    """The encoder cannot be loaded: no such model, no network, no safetensors, no masked language
    model.
    """


class UnsuitableEncoderError(ValueError):
    """The model was found, but the measure cannot use it."""


HASH = "sha256-"  # the revision of a folder begins so

WEIGHTS, _SHARD_INDEX = "model.safetensors", "model.safetensors.index.json"

#: Files of a folder that decide on tokens or weights, and all that is downloaded from the Hub.
CONTENT_NAMES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "entity_vocab.json",
    "merges.txt",
    "adapter_config.json",
    _SHARD_INDEX,
)
_CONTENT_SUFFIXES = (".safetensors", ".model")

#: What ``transformers`` raises if a model is absent, corrupt, unsupported or needs to run its own
#: code.
_FAILURES = (
    OSError,
    ImportError,
    TypeError,
    ValueError,
    KeyError,
    RuntimeError,
    SafetensorError,
)


@dataclass(frozen=True)
class EncoderInfo:
    """What the measure needs to know of an encoder, whatever name it was requested by."""

    revision: (
        str  # the Hub's commit, or ``sha256-`` and twelve digits of the content of a local folder
    )
    blocks: int  # of the whole model
    width: int  # of its hidden states
    positions: int | None  # longest input, special tokens included; ``None`` if there is no limit
    special: SpecialTokens
    layer: int  # read by default: ``estime_layer`` of ``config.json``, otherwise the one at the paper's relative depth
    is_bundled: bool

    def resolve(self, config: EstimeConfig) -> EstimeConfig:
        """``config`` with revision, layers, window, margin and distance filled in; `ValueError` if a
        layer, the window or the margin does not fit.
        """
        layers = config.layers
        if layers is None:
            layers = (self.layer,)
        elif layers == "all":
            layers = tuple(range(self.blocks + 1))
        most = sys.maxsize if self.positions is None else self.positions - self.special.around
        window = min(PAPER_WINDOW, most) if config.window is None else config.window
        margin = config.margin
        if margin is None:
            margin = PAPER_MARGIN * min(window, PAPER_WINDOW) // PAPER_WINDOW
        elif config.window is None and window <= 2 * margin:
            wanted = f"be less than half of the window, which is {window} for {config.model!r}"
            raise ValueError(f"Expected argument `margin` to {wanted}, but got {margin}.")
        distance = config.distance
        if distance is None:
            distance = EMBEDDED_DISTANCE if self.is_bundled else PAPER_DISTANCE
        resolved = dataclasses.replace(
            config,
            revision=self.revision,
            layers=layers,
            window=window,
            margin=margin,
            distance=distance,
        )
        for layer in resolved.layer_tuple:
            if layer > self.blocks:
                wanted = f"be within 0..{self.blocks}, the layers of {config.model!r}"
                raise ValueError(f"Expected argument `layers` to {wanted}, but got {layer}.")
        if window > most:
            wanted = f"be at most {most}, the positions of {config.model!r} less its special tokens"
            raise ValueError(f"Expected argument `window` to {wanted}, but got {window}.")
        return resolved


@contextmanager
def explained(model: str) -> Iterator[None]:
    """Turns any error while ``model`` is loaded into an `EncoderUnavailableError` or a
    `MemoryError`.
    """
    try:
        yield
    except (UnsuitableEncoderError, EncoderUnavailableError):
        raise
    except (MemoryError, *_FAILURES) as error:
        if is_out_of_memory(error):
            raise MemoryError(
                f"There is not enough memory to load the encoder {model!r}."
            ) from error
        raise unavailable(model, reason(error)) from None


def similar_bundled(model: str) -> str:
    """A question with the name of the bundled encoder (or the paper's) that ``model`` is a slip of, if any.
    A name with an owner, such as ``me/embedded``, is the Hub's.
    """
    if "/" in model or model in embedded.PATHS:
        return ""
    return did_you_mean(model, (*embedded.PATHS, PAPER), "model={!r}", similarity=0.8)


def origin(model: str) -> str:
    """What ``transformers`` loads for ``model``: the path of a folder, or a name on the Hub."""
    folder = embedded.PATHS.get(model)
    return os.path.expanduser(model) if folder is None else str(folder)


def is_bundled(model: str) -> bool:
    """Whether ``model`` is a bundled encoder: its name, its folder, or a copy of that, which the content
    shows.
    """
    if model in embedded.PATHS:
        return True
    return os.path.isdir(origin(model)) and any(
        content_hash(location(model)) == content_hash(location(name)) for name in embedded.PATHS
    )


def location(model: str) -> tuple[str, ...]:
    """What distinguishes two loads of ``model``: its name, and for a folder the state of its files."""
    folder = Path(origin(model))
    if not os.path.isdir(folder):
        return (model,)
    states = (
        f"{file}:{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in _content_files(folder)
    )
    return (str(folder.resolve()), *states)


def shards_of(folder: Path) -> list[str]:
    """The files of weights that an index names; OSError if one is not in safetensors."""
    if not (folder / _SHARD_INDEX).is_file():
        return []
    index = json.loads((folder / _SHARD_INDEX).read_text(encoding="utf-8"))
    shards = sorted(set(index["weight_map"].values()))
    if foreign := [shard for shard in shards if not shard.endswith(".safetensors")]:
        raise OSError(f"its weights are not in safetensors: {_SHARD_INDEX} names {foreign[0]}.")
    return shards


def check_folder(model: str, folder: Path) -> None:
    """Raises `EncoderUnavailableError` for a folder without configuration or weights, OSError if
    shards are not in safetensors.
    """
    names = os.listdir(folder)
    if not names:
        missing = "anything"
    elif "config.json" not in names:
        missing = "a config.json"
    elif not any(name.endswith((".safetensors", _SHARD_INDEX)) for name in names):
        missing = "weights in safetensors"
    else:
        shards_of(folder)
        return
    kind = "folder" if os.path.isdir(origin(model)) else "model on the Hub"
    raise unavailable(model, f"the {kind} does not contain {missing}.")


def is_path(model: str) -> bool:
    """Whether ``model`` is a path, which is never asked of the Hub."""
    is_written_so = model.startswith((".", "~", "/")) or "\\" in model or model.count("/") > 1
    return is_written_so or os.path.exists(os.path.expanduser(model))


def reason(error: Exception) -> str:
    """The first line of the message of an error."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def unavailable(model: str, reason: str) -> EncoderUnavailableError:
    """The error for a model that cannot be loaded, with what to do."""
    problem = f"The encoder {model!r} cannot be loaded: {reason}"
    if is_path(model):
        return EncoderUnavailableError(
            f"{problem} Pass as `model` the folder of a masked language model with safetensors weights, a name on the "
            'Hugging Face Hub, or model="embedded".'
        )
    if model in embedded.PATHS:
        return EncoderUnavailableError(
            f"{problem} It is a part of estime-metric: install the package again."
        )
    return EncoderUnavailableError(
        f"{problem}{similar_bundled(model)} You have three options: connect to the Hugging Face Hub once, so that the "
        'model is cached; pass a local folder with safetensors weights as `model`; or pass model="embedded" to use the '
        "bundled English encoder."
    )


def special_tokens(tokenizer: Any) -> SpecialTokens:
    """What a tokenizer puts around a text; `UnsuitableEncoderError` if that is not around it."""
    bare, full = (
        list(tokenizer(["a"], add_special_tokens=special)["input_ids"][0])
        for special in (False, True)
    )
    begins = [i for i in range(len(full)) if full[i : i + len(bare)] == bare]
    if not bare or not begins:
        raise UnsuitableEncoderError(
            "Expected argument `model` to name an encoder with a tokenizer that puts its special tokens around the tokens of a "
            f"text, but it makes {full} of the tokens {bare}."
        )
    begin = begins[0]
    before, after = tuple(full[:begin]), tuple(full[begin + len(bare) :])
    return SpecialTokens(
        before, after, mask=tokenizer.mask_token_id, padding=tokenizer.pad_token_id or 0
    )


def _content_files(folder: Path) -> list[Path]:
    """All files that decide on tokens or weights, shards in folders below included."""
    files = {
        file
        for file in folder.iterdir()
        if file.name in CONTENT_NAMES or file.suffix in _CONTENT_SUFFIXES
    }
    with contextlib.suppress(
        OSError, ValueError, AttributeError, TypeError
    ):  # `load_pretrained` says what is wrong
        files |= {folder / shard for shard in shards_of(folder) if (folder / shard).is_file()}
    return sorted(files)


@lru_cache(maxsize=16)
def content_hash(where: tuple[str, ...]) -> str:
    """Twelve digits that change with the content of the files at a `location`."""
    digest = hashlib.sha256()
    for file in _content_files(Path(where[0])):
        digest.update(file.relative_to(where[0]).as_posix().encode())
        with file.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    return f"{HASH}{digest.hexdigest()[:12]}"
