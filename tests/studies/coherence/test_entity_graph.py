"""The entity graph against an example worked by hand and against a naive version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.studies.coherence.entity_graph import (
    content_words,
    edges,
    entity_graph,
    nouns,
)

#: Entities with their roles, S = 3, O = 2, X = 1: four sentences.
ROLES = {
    "s1": {"judge": 3.0, "company": 2.0},
    "s2": {"company": 3.0, "gifts": 2.0, "judge": 1.0},
    "s3": {"river": 3.0},
    "s4": {"judge": 3.0, "gifts": 1.0},
}


def by_hand(sentence: str) -> dict[str, float]:
    return ROLES[sentence]


def test_the_example_worked_by_hand() -> None:
    # s1-s2: judge 3 * 1 + company 2 * 3 = 9, one apart; s1-s4: judge 3 * 3 = 9, three apart;
    # s2-s4: judge 1 * 3 + gifts 2 * 1 = 5, two apart; s3 has no edge. Outdegrees 9 + 3, 2.5, 0, 0 over 4 sentences.
    text = "s1\ns2\ns3\ns4"
    expected = {
        ("accumulated", True): (9 + 9 / 3 + 5 / 2) / 4,
        ("accumulated", False): (9 + 9 + 5) / 4,
        ("weighted", True): (2 + 1 / 3 + 2 / 2) / 4,
        ("weighted", False): (2 + 1 + 2) / 4,
        ("unweighted", True): (1 + 1 / 3 + 1 / 2) / 4,
        ("unweighted", False): 3 / 4,
    }
    for (projection, distance), value in expected.items():
        assert entity_graph(text, projection, distance, by_hand) == pytest.approx(value)
    np.testing.assert_allclose(edges(text, entities=by_hand)[0], [0, 9, 0, 3])


def naive(sentences: list[dict[str, float]], distance: bool) -> float:
    """Through the bipartite graph of sentences and entities, edge by edge."""
    bipartite = [(index, entity, weight) for index, found in enumerate(sentences) for entity, weight in found.items()]
    total = 0.0
    for index, entity, weight in bipartite:
        for later, other, their in bipartite:
            if other == entity and later > index:
                total += weight * their / ((later - index) if distance else 1)
    return total / len(sentences)


links = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([1.0, 2.0, 3.0]))


@settings(deadline=None)
@given(st.lists(links, min_size=1, max_size=7), st.booleans())
def test_agrees_with_a_naive_version(sentences: list[dict[str, float]], distance: bool) -> None:
    text = "\n".join(str(index) for index in range(len(sentences))) + "\n"
    score = entity_graph(
        text, distance=distance, entities=lambda part: sentences[int(part)], splitter=lambda text: text.split()
    )
    assert score == pytest.approx(naive(sentences, distance))


def test_nearer_mentions_score_higher() -> None:
    near = "The bridge is old. The mayor closed the bridge. Nobody came."
    far = "The bridge is old. Nobody came. The mayor closed the bridge."
    assert entity_graph(near) > entity_graph(far) > 0
    assert entity_graph(near, distance=False) == entity_graph(far, distance=False)


def test_texts_without_edges() -> None:
    assert [entity_graph(text) for text in ("", " ", "One sentence only.", "It was. He did.")] == [0, 0, 0, 0]
    assert edges("").shape == (0, 0)


def test_finders() -> None:
    assert content_words("He said that 12 U.S. judge's cars won't go.") == {"u.s": 1.0, "judge": 1.0, "cars": 1.0}
    assert content_words("") == {}
    tags = {"the": "DT", "Judge": "NNP", "saw": "VBD", "gifts": "NNS"}
    assert nouns(lambda words: [tags[word] for word in words])("the Judge saw gifts") == {"judge": 1.0, "gifts": 1.0}
    pairs = nouns(lambda words: [(word, "NOUN") for word in words])
    assert pairs("a b") == {"a": 1.0, "b": 1.0}
    assert pairs("") == {}
    with pytest.raises(ValueError, match="a tag for each of 2 words, but got 1"):
        nouns(lambda words: ["NN"])("two words")


def test_an_unknown_projection_is_named() -> None:
    with pytest.raises(ValueError, match="`projection` to be one of unweighted, weighted, accumulated, but got 'all'"):
        entity_graph("One. Two.", projection="all")
