"""Coherence measures of Steen & Markert 2022 that need no published checkpoint of their own.

``scoring`` has them all by name, as ``estime coherence`` does. ``entity_graph`` and ``baselines`` need nothing;
``bartscore`` takes any sequence-to-sequence model, ``classifier`` any encoder, which ``train`` fine-tunes on shuffled
texts. For each of them a higher score means more coherent.
"""

from __future__ import annotations

#: The toolbox paper's checkpoint of BARTScore.
BARTSCORE_MODEL = "facebook/bart-large-cnn"
