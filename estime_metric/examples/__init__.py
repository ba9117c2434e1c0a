"""Example pairs, written for this project: a few sources, each with a faithful and an unfaithful
summary.
"""

from __future__ import annotations

from pathlib import Path

#: JSON Lines with ``source``, ``summary``, ``verdict`` (faithful or unfaithful) and ``note``.
PATH = Path(__file__).parent / "pairs.jsonl"
