"""The entity graph against an example worked by hand and against a naive version."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.studies.coherence.entity_graph import content_words, entity_graph, nouns

#: Entities with their roles, S = 3, O = 2, X = 1: four sentences.
ROLES = {
    "s1": {"judge": 3.0, "company": 2.0},
    "s2": {"company": 3.0, "gifts": 2.0, "judge": 1.0},
    "s3": {"river": 3.0},
    "s4": {"judge": 3.0, "gifts": 1.0},
}


def test_the_example_worked_by_hand() -> None:
    # s1-s2: judge 3 * 1 + company 2 * 3 = 9, one apart; s1-s4: judge 3 * 3 = 9, three apart;
    # s2-s4: judge 1 * 3 + gifts 2 * 1 = 5, two apart; s3 has no edge. Outdegrees 9 + 3, 2.5, 0, 0 over 4 sentences.
    assert entity_graph("s1\ns2\ns3\ns4", ROLES.__getitem__) == pytest.approx((9 + 9 / 3 + 5 / 2) / 4)


def naive(sentences: list[dict[str, float]]) -> float:
    """Through the bipartite graph of sentences and entities, edge by edge."""
    bipartite = [(index, entity, weight) for index, found in enumerate(sentences) for entity, weight in found.items()]
    edges = [
        weight * their / (later - index)
        for (index, entity, weight), (later, other, their) in itertools.product(bipartite, repeat=2)
        if other == entity and later > index
    ]
    return sum(edges) / len(sentences)


links = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([1.0, 2.0, 3.0]))


@settings(deadline=None)
@given(st.lists(links, min_size=1, max_size=7))
def test_agrees_with_a_naive_version(sentences: list[dict[str, float]]) -> None:
    text = "\n".join(map(str, range(len(sentences))))
    assert entity_graph(text, lambda part: sentences[int(part)]) == pytest.approx(naive(sentences))


def test_finders_and_texts_without_edges() -> None:
    assert [entity_graph(text) for text in ("", " ", "One sentence only.", "It was. He did.")] == [0, 0, 0, 0]
    assert content_words("He said that 12 U.S. judge's cars won't go.") == {"u.s": 1.0, "judge": 1.0, "cars": 1.0}
    assert content_words("") == {}
    tags = {"the": "DT", "Judge": "NNP", "saw": "VBD", "gifts": "NNS"}
    assert nouns(lambda words: [tags[word] for word in words])("the Judge saw gifts") == {"judge": 1.0, "gifts": 1.0}
    pairs = nouns(lambda words: [(word, "NOUN") for word in words])
    assert pairs("a b") == {"a": 1.0, "b": 1.0}
    assert pairs("") == {}
    with pytest.raises(ValueError, match="a tag for each of 2 words, but got 1"):
        nouns(lambda words: ["NN"])("two words")
