"""Datasets of the Hugging Face Hub, without a long wait if there is no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from estime_metric._extras import needs_extra
from estime_metric.engine.encoder.loading import hub_answers


def load_dataset(name: str, *edition: str, split: str, revision: str | None, advice: str) -> Any:
    """A split of a dataset of the Hub, or of a local folder with its layout; ``advice`` says what else
    a user can do if it cannot be loaded (OSError). ImportError without ``datasets``.
    """
    with needs_extra("evaluate", "Datasets need `datasets`"):
        import datasets
    from huggingface_hub import constants

    is_local = Path(name).is_dir()
    cached = Path(datasets.config.HF_DATASETS_CACHE) / name.replace("/", "___")
    try:
        # Otherwise, ``datasets`` would ask the Hub again and again for half a minute.
        if not (is_local or constants.HF_HUB_OFFLINE or cached.is_dir() or hub_answers()):
            raise OSError(f"the Hugging Face Hub does not answer at {constants.ENDPOINT}")
        revision = None if is_local else revision
        return datasets.load_dataset(name, *edition, split=split, revision=revision)
    except (OSError, ValueError, RuntimeError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise OSError(
            f"The dataset {name!r} cannot be loaded: {reason.rstrip('.')}. Connect to the Hugging Face "
            f"Hub, or {advice}."
        ) from error
