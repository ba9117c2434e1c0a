"""Coherence measures by their names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from estime_metric.studies.coherence.bartscore import BartScore
from estime_metric.studies.coherence.entity_graph import entity_graph
from estime_metric.studies.coherence.scoring import MEASURES, CoherenceOptions, coherence_scores, coherence_signature
from tests.studies.coherence.test_bartscore import SOURCES, SUMMARIES, save_seq2seq


def test_each_name_is_its_measure(tmp_path: Path) -> None:
    folder = save_seq2seq(tmp_path / "bart", "bart")
    options = CoherenceOptions(bartscore_model=folder, device="cpu", seed=5)
    names = ["entity_graph", "length", "random", "bartscore"]
    found = coherence_scores(SUMMARIES, names, sources=SOURCES, options=options)
    expected = {
        "entity_graph": [entity_graph(text) for text in SUMMARIES],
        "length": [len(text) for text in SUMMARIES],
        "random": np.random.default_rng(5).uniform(size=len(SUMMARIES)),
        "bartscore": BartScore(folder, device="cpu").score(SUMMARIES, SOURCES),
    }
    assert list(found) == names
    for name in names:
        np.testing.assert_array_equal(found[name], expected[name])
    assert all(len(scores) == 0 for scores in coherence_scores([], names[:3]).values())


@pytest.mark.parametrize(
    ("measures", "options", "message"),
    [
        ([], {}, f"name some of {', '.join(MEASURES)}, but got none"),
        (["fluency"], {}, "but got 'fluency'"),
        (["classifier"], {}, "since the measure 'classifier' needs one"),
        (["bartscore"], {"bartscore_model": "x"}, "`sources` to hold the sources, since the measure 'bartscore'"),
    ],
)
def test_what_a_measure_needs_is_said(measures: list[str], options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coherence_scores(["A text."], measures, options=CoherenceOptions(**options))
    with pytest.raises(TypeError, match="`texts` to be a list of strings, but got one bare str"):
        coherence_scores("A text.")


def test_the_signature_tells_what_changes_a_score() -> None:
    plain = coherence_signature(["classifier"], CoherenceOptions(classifier="a|b"))
    assert plain.startswith("COHERENCE|classifier:a%7Cb|version:")
    assert "|truncate:yes|" in coherence_signature(["classifier"], CoherenceOptions(classifier="a", truncate=True))
    assert "truncate" not in coherence_signature(["length"], CoherenceOptions(truncate=True))
    assert "entity_graph:nouns,nltk" in coherence_signature(["entity_graph"], CoherenceOptions(tagger="nltk"))
