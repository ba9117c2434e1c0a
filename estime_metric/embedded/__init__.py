"""The small masked language model that ships with the package (``model="embedded"``); see the README in this folder."""

from pathlib import Path
from typing import Final

PATH: Final[Path] = Path(__file__).resolve().parent
"""Folder of the weights, the configuration and the tokenizer."""

DEFAULT_LAYER: Final[int] = 5
"""Layer that ESTIME takes when none is given."""
