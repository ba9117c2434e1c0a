"""A small encoder for commands."""

from __future__ import annotations

import pytest

from tests.command import SHORT


@pytest.fixture
def encoder(bert_folder: str) -> list[str]:
    """Options of a small encoder, without a progress bar."""
    return ["-m", bert_folder, "-q", *SHORT]
