"""Datasets of the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from estime_metric._messages import needs_extra


def load_dataset(name: str, *edition: str, split: str, revision: str | None, advice: str) -> Any:
    """A split of a dataset of the Hub, or of a local folder with its layout; ``advice`` says what else
    a user can do if it cannot be loaded (OSError). ImportError without ``datasets``.
    """
    with needs_extra("evaluate", "Datasets need `datasets`"):
        import datasets
    try:
        revision = None if Path(name).is_dir() else revision
        return datasets.load_dataset(name, *edition, split=split, revision=revision)
    except (OSError, ValueError, RuntimeError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise OSError(
            f"The dataset {name!r} cannot be loaded: {reason.rstrip('.')}. Connect to the Hugging Face "
            f"Hub, or {advice}."
        ) from error
