"""Coherence measures of Steen & Markert 2022 that need no published checkpoint of their own.

``entity_graph`` and ``baselines`` need nothing; ``bartscore`` takes any sequence-to-sequence model, ``classifier`` any
encoder, which ``train`` fine-tunes on shuffled texts. For each of them a higher score means more coherent.
"""
