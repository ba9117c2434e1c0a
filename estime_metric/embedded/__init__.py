"""The masked language models that ship with the package; see the README in this folder."""

from pathlib import Path
from typing import Final

SMALL: Final[Path] = Path(__file__).resolve().parent / "small"
"""Folder of ``model="embedded-small"``: weights, configuration, tokenizer."""

# Until the weights of the base encoder are there, its name stands for the small one. Then: SMALL.with_name("base").
BASE: Final[Path] = SMALL
"""Folder of ``model="embedded"``."""

PATHS: Final[dict[str, Path]] = {"embedded": BASE, "embedded-small": SMALL}
"""The names, and the folder of each. Its ``config.json`` states the layer that ESTIME reads, ``estime_layer``."""
