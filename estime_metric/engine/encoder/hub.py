"""Models of the Hugging Face Hub: a model is a folder in the Hub's cache, named by its commit."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder.folder import (
    CONTENT_NAMES,
    HASH,
    WEIGHTS,
    content_hash,
    is_path,
    location,
    origin,
    reason,
    shards_of,
    similar_bundled,
    unavailable,
)


def revision_of(model: str, revision: str | None) -> str:
    """The commit of a Hub model, a hash of a folder's content; `EncoderUnavailableError` if there
    is neither, and ValueError if a folder should have another hash.
    """
    if not os.path.isdir(origin(model)):
        _check_model(model, revision)
        with quiet():
            return snapshot(model, revision).name
    content = content_hash(location(model))
    if revision is not None and revision.startswith(HASH) and revision != content:
        raise ValueError(
            f"Expected the encoder {model!r} to have the revision {revision}, but its files have changed: they "
            f"are {content} now."
        )
    return content


def snapshot(model: str, revision: str | None, *, local_files_only: bool = False) -> Path:
    """The folder of a Hub model in the Hub's cache, named by its commit, with all files that an encoder
    needs; downloads those that are missing. If the Hub cannot be reached, the commit is the one that a
    branch had before. Raises `EncoderUnavailableError`.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

    def download(revision: str | None, files: list[str]) -> Path:
        folder = snapshot_download(
            model, revision=revision, allow_patterns=files, local_files_only=local_files_only
        )
        return Path(folder)

    try:
        folder = download(revision, [*CONTENT_NAMES, WEIGHTS, "*.model"])
        if not (folder / WEIGHTS).exists() and (shards := shards_of(folder)):
            download(folder.name, shards)
    except LocalEntryNotFoundError:
        raise unavailable(
            model, "it is not in the Hub's cache, and the Hub cannot be reached."
        ) from None
    except RepositoryNotFoundError:
        raise unavailable(model, "the Hub has no such model, or it is not public.") from None
    except Exception as error:  # whatever the HTTP client in use raises
        raise unavailable(model, reason(error)) from None
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
    if is_path(model):
        is_file = os.path.exists(os.path.expanduser(model))
        raise unavailable(model, "it is not a folder." if is_file else "there is no such folder.")
    if similar_bundled(model):
        raise unavailable(model, "there is no such encoder.")
    from huggingface_hub import constants, try_to_load_from_cache

    if not constants.HF_HUB_OFFLINE:
        return
    try:
        cached = try_to_load_from_cache(model, "config.json", revision=revision)
    except ValueError as error:  # not a name that the Hub accepts
        raise unavailable(model, reason(error)) from None
    if not isinstance(cached, str):
        raise unavailable(model, "it is not in the Hub's cache, and HF_HUB_OFFLINE is set.")


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
