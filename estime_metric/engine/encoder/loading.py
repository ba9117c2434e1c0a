"""Loads an encoder from a folder, and states what the measure needs to know of it. A model of the Hub
is a folder in its cache.

The only module of the engine that imports ``transformers``. It does so within functions, because
the import takes seconds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from estime_metric import embedded
from estime_metric.checks import did_you_mean
from estime_metric.config import (
    EMBEDDED_DISTANCE,
    EMBEDDED_SMALL_MODEL,
    PAPER,
    PAPER_DISTANCE,
    PAPER_MARGIN,
    PAPER_WINDOW,
    EstimeConfig,
    default_layer,
)
from estime_metric.engine.encoder.device import is_out_of_memory
from estime_metric.engine.masking import SpecialTokens


class EncoderUnavailableError(OSError):
    """The encoder cannot be loaded: no such model, no network, no safetensors, no masked language
    model.
    """


class UnsuitableEncoderError(ValueError):
    """The model was found, but the measure cannot use it."""


_HASH = "sha256-"  # the revision of a folder begins so

_WEIGHTS, _SHARD_INDEX = "model.safetensors", "model.safetensors.index.json"

#: Files of a folder that decide on tokens or weights, and all that is downloaded from the Hub.
_CONTENT_NAMES = (
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

_CONNECTION_SECONDS = 3.0  # without an answer, after which the Hub is out of reach
_ANSWER_LASTS = 30.0  # seconds for which it is not asked again

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


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A loaded model and its fast tokenizer."""

    name: str  # as the user gave it
    model: Any  # without its prediction head
    dtype: torch.dtype
    tokenizer: Any
    info: EncoderInfo
    headed: Any  # the model with its prediction head, of which ``model`` is a part; ``None`` if it has none

    def with_head(self) -> Any:
        """The model with its prediction head; `ValueError` if it has none."""
        if self.headed is None:
            wanted = f"a model with its prediction head, such as {EMBEDDED_SMALL_MODEL!r}"
            raise ValueError(
                f"Expected argument `model` to name {wanted}, but {self.name!r} has none."
            )
        return self.headed

    def save(self, folder: str | Path) -> None:
        """Writes it as a folder that ``transformers`` reads, which knows nothing of int8 weights."""
        (self.model if self.headed is None else self.headed).save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def read_int8(file: Path, dtype: torch.dtype) -> dict[str, torch.Tensor] | None:
    """Weights that are stored as int8 with a float16 scale for each row (``NAME.scale``); ``None``
    for other files.
    """
    weights = {}
    with safe_open(file, framework="pt") as stored:
        if (stored.metadata() or {}).get("weights") != "int8":
            return None
        for name in stored.keys():  # noqa: SIM118 - no dict
            weight = stored.get_tensor(name)
            if weight.dtype == torch.int8:
                weight = weight.float().mul_(stored.get_tensor(f"{name}.scale").float()[:, None])
            if not name.endswith(".scale"):
                weights[name] = weight.to(dtype)
    return weights


def load_pretrained(model: str, revision: str | None, dtype: torch.dtype) -> Pretrained:
    """Loads tokenizer and weights with ``transformers``: safetensors only, no remote code, on the
    CPU, in eval mode.

    Raises `EncoderUnavailableError`, or ValueError if the mask token, the fast tokenizer or a
    weight is missing.
    """
    return load_commit(model, revision_of(model, revision), dtype)


def load_commit(model: str, commit: str, dtype: torch.dtype) -> Pretrained:
    """`load_pretrained` for what `revision_of` returned."""
    from transformers import (
        MODEL_FOR_MASKED_LM_MAPPING,
        AutoConfig,
        AutoModelForMaskedLM,
        AutoTokenizer,
    )

    with explained(model), quiet():
        folder = Path(origin(model))
        if not os.path.isdir(folder):
            folder = _snapshot(model, commit, local_files_only=True)
        _check_folder(model, folder)
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        if type(config) not in MODEL_FOR_MASKED_LM_MAPPING:
            kind = type(config).__name__.removesuffix("Config")
            raise _unavailable(model, f"it is not a masked language model: {kind}.")
        # Explicit: by default `transformers` asks at the terminal whether to run remote code.
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        _check_tokenizer(model, tokenizer)
        config.reference_compile = False  # otherwise ModernBERT compiles itself at the first call
        how: dict[str, Any] = {"config": config, "dtype": dtype, "output_loading_info": True}
        weights = folder / _WEIGHTS
        stored = read_int8(weights, dtype) if weights.is_file() else None
        if stored is not None:
            made = MODEL_FOR_MASKED_LM_MAPPING[type(config)]
            headed, report = made.from_pretrained(None, state_dict=stored, **how)
        else:
            how |= {"use_safetensors": True, "trust_remote_code": False}
            headed, report = AutoModelForMaskedLM.from_pretrained(folder, **how)
    base = headed.base_model
    _check_weights(model, base, headed.base_model_prefix, report)
    head = (
        None if report["missing_keys"] else headed.eval()
    )  # what `_check_weights` lets pass belongs to the head
    info = info_of(model, commit, base, tokenizer)
    return Pretrained(model, base.eval(), dtype, tokenizer, info, head)


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
        raise _unavailable(model, _reason(error)) from None


def info_of(model: str, revision: str, base: Any, tokenizer: Any) -> EncoderInfo:
    """The `EncoderInfo` of ``model``, loaded as ``base`` without its head."""
    config = base.config
    blocks = int(config.num_hidden_layers)
    layer = int(getattr(config, "estime_layer", default_layer(blocks)))
    special, positions = _special_tokens(tokenizer), longest_input(base)
    width, bundled = int(config.hidden_size), is_bundled(model)
    return EncoderInfo(revision, blocks, width, positions, special, layer, bundled)


def revision_of(model: str, revision: str | None) -> str:
    """The commit of a Hub model, a hash of a folder's content; `EncoderUnavailableError` if there
    is neither, and ValueError if a folder should have another hash.

    Warns if the Hub does not answer and the commit that a branch had when it was last asked is
    used.
    """
    if os.path.isdir(origin(model)):
        content = _content_hash(location(model))
        if revision is not None and revision.startswith(_HASH) and revision != content:
            raise ValueError(
                f"Expected the encoder {model!r} to have the revision {revision}, but its files have changed: they "
                f"are {content} now."
            )
        return content
    _check_model(model, revision)
    from huggingface_hub import constants

    is_offline = constants.HF_HUB_OFFLINE
    unanswered = not is_offline and not hub_answers()
    with quiet():
        commit = _snapshot(model, revision, local_files_only=is_offline or unanswered).name
    if unanswered and commit != revision:
        warnings.warn(
            f"The Hugging Face Hub did not answer within {_CONNECTION_SECONDS:g} seconds: the copy of {model!r} in "
            f"the local cache is used, commit {commit}, which may not be the newest. Pass that commit as `revision`, "
            "or set HF_HUB_OFFLINE=1, if that is what you want.",
            RuntimeWarning,
            stacklevel=2,
        )
    return commit


def _snapshot(model: str, revision: str | None, *, local_files_only: bool) -> Path:
    """The folder of a Hub model in the Hub's cache, named by its commit, with all files that an encoder
    needs; downloads those that are missing. Raises `EncoderUnavailableError`.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

    try:
        folder = Path(
            snapshot_download(
                model,
                revision=revision,
                allow_patterns=[*_CONTENT_NAMES, _WEIGHTS, "*.model"],
                local_files_only=local_files_only,
            )
        )
        if not (folder / _WEIGHTS).exists() and (shards := _shards(folder)):
            snapshot_download(
                model,
                revision=folder.name,
                allow_patterns=shards,
                local_files_only=local_files_only,
            )
    except LocalEntryNotFoundError:
        raise _unavailable(
            model, "it is not in the Hub's cache, and the Hub cannot be reached."
        ) from None
    except RepositoryNotFoundError:
        raise _unavailable(model, "the Hub has no such model, or it is not public.") from None
    except Exception as error:  # whatever the HTTP client in use raises
        raise _unavailable(model, _reason(error)) from None
    return folder


def check_models(config: EstimeConfig) -> None:
    """Raises `EncoderUnavailableError` if it is certain, before anything is loaded or downloaded, that
    there is no such ``model`` or ``soft_model``: a name that is nearly a bundled encoder's, a path
    that is not a folder, or, offline, a name that is not in the Hub's cache.
    """
    _check_model(config.model, config.revision)
    if config.soft_model is not None:
        _check_model(config.soft_model, config.soft_revision)


def _check_model(model: str, revision: str | None) -> None:
    if os.path.isdir(origin(model)):
        return
    if _is_path(model):
        is_file = os.path.exists(os.path.expanduser(model))
        raise _unavailable(model, "it is not a folder." if is_file else "there is no such folder.")
    if _similar_bundled(model):
        raise _unavailable(model, "there is no such encoder.")
    from huggingface_hub import constants, try_to_load_from_cache

    if not constants.HF_HUB_OFFLINE:
        return
    try:
        cached = try_to_load_from_cache(model, "config.json", revision=revision)
    except ValueError as error:  # not a name that the Hub accepts
        raise _unavailable(model, _reason(error)) from None
    if not isinstance(cached, str):
        raise _unavailable(model, "it is not in the Hub's cache, and HF_HUB_OFFLINE is set.")


def _similar_bundled(model: str) -> str:
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
        _content_hash(location(model)) == _content_hash(location(name)) for name in embedded.PATHS
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


def hub_answers() -> bool:
    """Whether the Hub answers; the answer is kept for a while."""
    return _hub_answers(int(time.monotonic() // _ANSWER_LASTS))


@lru_cache(maxsize=1)
def _hub_answers(period: int) -> bool:
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=_CONNECTION_SECONDS)
    except Exception:  # whatever the HTTP client in use raises
        return False
    return True


def _shards(folder: Path) -> list[str]:
    """The files of weights that an index names; OSError if one is not in safetensors."""
    if not (folder / _SHARD_INDEX).is_file():
        return []
    index = json.loads((folder / _SHARD_INDEX).read_text(encoding="utf-8"))
    shards = sorted(set(index["weight_map"].values()))
    if foreign := [shard for shard in shards if not shard.endswith(".safetensors")]:
        raise OSError(f"its weights are not in safetensors: {_SHARD_INDEX} names {foreign[0]}.")
    return shards


def _check_folder(model: str, folder: Path) -> None:
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
        _shards(folder)
        return
    kind = "folder" if os.path.isdir(origin(model)) else "model on the Hub"
    raise _unavailable(model, f"the {kind} does not contain {missing}.")


def _is_path(model: str) -> bool:
    """Whether ``model`` is a path, which is never asked of the Hub."""
    is_written_so = model.startswith((".", "~", "/")) or "\\" in model or model.count("/") > 1
    return is_written_so or os.path.exists(os.path.expanduser(model))


def _reason(error: Exception) -> str:
    """The first line of the message of an error."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _unavailable(model: str, reason: str) -> EncoderUnavailableError:
    problem = f"The encoder {model!r} cannot be loaded: {reason}"
    if _is_path(model):
        return EncoderUnavailableError(
            f"{problem} Pass as `model` the folder of a masked language model with safetensors weights, a name on the "
            'Hugging Face Hub, or model="embedded".'
        )
    if model in embedded.PATHS:
        return EncoderUnavailableError(
            f"{problem} It is a part of estime-metric: install the package again."
        )
    return EncoderUnavailableError(
        f"{problem}{_similar_bundled(model)} You have three options: connect to the Hugging Face Hub once, so that the "
        'model is cached; pass a local folder with safetensors weights as `model`; or pass model="embedded" to use the '
        "bundled English encoder."
    )


def _check_tokenizer(model: str, tokenizer: Any) -> None:
    if tokenizer.mask_token_id is None:
        lacks = "a mask token"
    elif not tokenizer.is_fast:
        lacks = "a fast tokenizer (required for character offsets)"
    elif not set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids):
        lacks = "its tokenizer"  # if a folder contains none, `transformers` 5 makes an empty one without a warning
    else:
        return
    raise UnsuitableEncoderError(
        f"Expected argument `model` to name an encoder with {lacks}, but {model!r} has none."
    )


def _check_weights(model: str, base: nn.Module, prefix: str, report: dict[str, Any]) -> None:
    own = set(base.state_dict())
    if missing := sorted(
        name for name in report["missing_keys"] if name.removeprefix(f"{prefix}.") in own
    ):
        raise UnsuitableEncoderError(
            f"Expected argument `model` to name a complete encoder, but {model!r} lacks {len(missing)} of its weights: "
            f"{', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}."
        )


def longest_input(base: Any) -> int | None:
    """The longest input of a model, special tokens included; ``None`` if there is no limit. Models that
    number positions from behind their padding (RoBERTa, MPNet) lose those up to it.
    """
    limit = getattr(base.config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit <= 0:
        return None
    for name, module in base.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return module.num_embeddings - (
                0 if module.padding_idx is None else module.padding_idx + 1
            )
    return limit


def _special_tokens(tokenizer: Any) -> SpecialTokens:
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
        if file.name in _CONTENT_NAMES or file.suffix in _CONTENT_SUFFIXES
    }
    with contextlib.suppress(
        OSError, ValueError, AttributeError, TypeError
    ):  # `load_pretrained` says what is wrong
        files |= {folder / shard for shard in _shards(folder) if (folder / shard).is_file()}
    return sorted(files)


@lru_cache(maxsize=16)
def _content_hash(where: tuple[str, ...]) -> str:
    """Twelve digits that change with the content of the files at a `location`."""
    digest = hashlib.sha256()
    for file in _content_files(Path(where[0])):
        digest.update(file.relative_to(where[0]).as_posix().encode())
        with file.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    return f"{_HASH}{digest.hexdigest()[:12]}"


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps the reports of an ordinary load (a missing head) and its bars off the screen; changes
    no log level.
    """
    from transformers.utils import logging as transformers_logging

    logger = logging.getLogger("transformers.modeling_utils")
    bars = transformers_logging.is_progress_bar_enabled()

    def drop(record: logging.LogRecord) -> bool:
        return record.levelno > logging.WARNING

    logger.addFilter(drop)
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        logger.removeFilter(drop)
        if bars:
            transformers_logging.enable_progress_bar()
