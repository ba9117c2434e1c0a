"""Datasets of the Hugging Face Hub, without a long wait if there is no network."""

from __future__ import annotations

from pathlib import Path

_SECONDS = 3.0  # after which the Hub counts as out of reach


def check_reachable(name: str) -> None:
    """Refuses a dataset that is neither local nor cached while the Hub does not answer (OSError).

    Without this check, ``datasets`` asks the Hub again and again for half a minute.
    """
    from huggingface_hub import constants

    if Path(name).is_dir() or constants.HF_HUB_OFFLINE or _is_cached(name) or _hub_answers():
        return
    raise OSError(f"the Hugging Face Hub does not answer at {constants.ENDPOINT}")


def _is_cached(name: str) -> bool:
    from datasets import config

    return (Path(config.HF_DATASETS_CACHE) / name.replace("/", "___")).is_dir()


def _hub_answers() -> bool:
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=_SECONDS)
    except Exception:  # whatever the HTTP client in use raises
        return False
    return True
