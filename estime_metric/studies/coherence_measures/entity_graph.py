"""The entity graph (Guinaudeau & Strube 2013): a directed graph of the sentences of a text, linked
if they mention the same entities. The paper weighs subject 3, object 2, other 1; `content_words` know
no roles, so that each weighs 1."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from estime_metric.engine.splitter import split_words
from estime_metric.studies.meta.shuffle import split_sentences
from estime_metric.table.arrays import Floats

#: English function words: `content_words` treats all other words as entities.
_FUNCTION_WORDS = """
about above after again against all almost already also although always among and another any anyone anything are
around because been before being below between both but can cannot could did does doing done down during each either
else enough even ever every everyone everything few for from further get gets getting give given gives goes going
gone got had has have having her here hers herself him himself his how however its itself just keep later least less
let like likely made make makes making many may maybe might more most much must myself near nearly neither never nor
not nothing now off often once one only onto other others our ours out over own per perhaps put quite rather really
said same saw say saying says see seen several shall she should since some someone something soon still such take
taken takes tell than that the their theirs them themselves then there these they thing things this those though
three through thus till too took toward towards two under until upon very was way well went were what whatever when
where whether which while who whole whom whose why will with within without would yes yet you your yours yourself
"""
_STOP = frozenset(_FUNCTION_WORDS.split())


def content_words(sentence: str) -> set[str]:
    """The entities of a sentence: lower-cased words of three or more letters that are not function
    words.

    A possessive "'s" is cut off, other words with an apostrophe are excluded. It also treats verbs
    and adjectives as entities, and does not lemmatize: "bee" and "bees" are two.

    Example:
        >>> sorted(content_words("The bees found the flower, which the bees remember."))
        ['bees', 'flower', 'found', 'remember']
    """
    words = (word.lower().removesuffix("'s") for word in split_words(sentence))
    return {
        word
        for word in words
        if len(word) > 2 and word[0].isalpha() and "'" not in word and word not in _STOP
    }


def entity_graph(text: str) -> float:
    """The score of a text: the mean outdegree of its sentences, 0 or more, higher is more coherent.

    The edge of two sentences is the number of their common entities, over the number of sentences from
    one to the other: the variant of the toolbox paper.

    Example:
        >>> entity_graph("The bridge is old. The mayor closed the bridge. The mayor left.")
        0.6666666666666666
    """
    edges = _edges(text)
    return float(edges.sum() / len(edges)) if len(edges) else 0.0


def unlinked_sentences(text: str) -> float:
    """The share of the sentences of a text that have no entity in common with another one, 0 to 1; 1
    for a text without sentences (Steen & Markert 2022, Table 6).

    Example:
        >>> round(unlinked_sentences("The bridge is old. The mayor closed the bridge. Bees fly."), 3)
        0.333
    """
    edges = _edges(text)
    linked = (edges + edges.T).any(axis=1)
    return float(1 - linked.mean()) if len(edges) else 1.0


def _edges(text: str) -> Floats:
    """The weight of the edge from each sentence to each later one, (sentences, sentences)."""
    by_sentence = [content_words(sentence) for sentence in split_sentences(text)]
    edges = np.zeros((len(by_sentence), len(by_sentence)))
    for i, j in combinations(range(len(by_sentence)), 2):
        edges[i, j] = len(by_sentence[i] & by_sentence[j]) / (j - i)
    return edges
