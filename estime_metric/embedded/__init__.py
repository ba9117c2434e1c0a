"""The masked language models that are bundled with the package; see the README in this folder."""

from pathlib import Path
from typing import Final

SMALL: Final[Path] = Path(__file__).resolve().parent / "small"
"""Folder of ``model="embedded-small"``: weights, configuration, tokenizer."""

BASE: Final[Path] = SMALL.with_name("base")
"""Folder of ``model="embedded"``."""

PATHS: Final[dict[str, Path]] = {"embedded": BASE, "embedded-small": SMALL}
"""The names, and the folder of each. Its ``config.json`` states the layer that ESTIME reads, ``estime_layer``."""
