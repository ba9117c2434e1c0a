"""Measures that the paper's tables set next to ESTIME, and trivial ones that any measure should
beat, each also a block.

All functions accept lists of texts of the same length and return float64 of shape (summaries,).
Words are split by `lower_words`, as for `new_words`. An empty summary has a ROUGE, BLEU and length
of 0 and a divergence of 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from estime_metric._messages import needs_extra
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_BASED,
    REFERENCE_FREE,
    TRIVIAL,
    Block,
    ColumnValues,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.table.arrays import Floats
from estime_metric.wording.source import novelty
from estime_metric.wording.words import lower_words

Texts = Sequence[str]
#: Data -> the texts with which each summary is compared, at least one for each.
References = Callable[[Any], Sequence[Texts]]
#: Measures that the texts alone decide: see `estime_metric.novelty`.
NEW_NGRAMS = ("new_words", "new_bigrams", "new_trigrams")
OF_TEXTS = (*NEW_NGRAMS, "new_names", "new_numbers", "copied_density")
ROUGE = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rouge3": "ROUGE-3", "rougeLsum": "ROUGE-L"}


def rouge(summaries: Texts, references: Sequence[Texts]) -> dict[str, Floats]:
    """ROUGE-1, -2, -3 and -L (Lin 2004), F1 of stemmed words, between 0 and 1; higher is better.

    The paper uses ``rouge-score`` with ``rougeLsum`` for ROUGE-L (section 3.1) and does not say how
    it combines eleven references. The mean over the references, with stemming, reproduces its rows of Table
    1 within .002; in Table 2, ROUGE-1 is .050 (rho) and .033 (tau-c) off.
    Raises ImportError without ``rouge-score``.

    Example:
        >>> scores = rouge(["the cat sat"], [["the cat sat", "a dog"]])
        >>> float(scores["ROUGE-1"][0]), float(scores["ROUGE-2"][0])
        (0.5, 0.5)
    """
    with needs_extra("meta", "ROUGE needs rouge-score"):
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer
    tokenizer = DefaultTokenizer(use_stemmer=True)
    tokenizer.tokenize = lru_cache(maxsize=1000)(
        tokenizer.tokenize
    )  # a reference comes back with every system
    scorer = RougeScorer(list(ROUGE), tokenizer=tokenizer)
    scores: dict[str, list[Any]] = {name: [] for name in ROUGE.values()}
    for summary, texts in zip(summaries, references, strict=True):
        results = [scorer.score(text, summary) for text in texts]
        for key, name in ROUGE.items():
            scores[name].append(np.mean([values[key].fmeasure for values in results]))
    return {name: np.array(values, dtype=np.float64) for name, values in scores.items()}


def bleu(summaries: Texts, references: Sequence[Texts]) -> Floats:
    """Sentence BLEU (Papineni et al. 2002) of ``sacrebleu``, between 0 and 100; higher is better.

    Uses all references together, as BLEU defines it; lower-cased, tokenization ``13a``, exponential
    smoothing. The paper uses NLTK's BLEU with settings that it does not state, so its row differs.
    Raises ImportError without ``sacrebleu``.
    """
    with needs_extra("meta", "BLEU needs sacrebleu"):
        from sacrebleu import sentence_bleu
    scores = [
        sentence_bleu(summary, texts, lowercase=True).score
        for summary, texts in zip(summaries, references, strict=True)
    ]
    return np.array(scores, dtype=np.float64)


def jensen_shannon(summaries: Texts, sources: Texts) -> Floats:
    """Jensen-Shannon divergence of the word distributions of summary and source, between 0 and 1;
    lower is better.

    Relative frequencies, no smoothing, logarithms to base 2 (Louis & Nenkova 2009). A text without
    words has 1. The paper does not state its variant; of 40 tried none came within .03 of both its
    correlations.

    Example:
        >>> jensen_shannon(["a b", "c"], ["a b a b", "a b"]).tolist()
        [0.0, 1.0]
    """
    with needs_extra("meta", "The Jensen-Shannon divergence needs scipy"):
        from scipy.spatial.distance import jensenshannon
    counts = {source: Counter(lower_words(source)) for source in dict.fromkeys(sources)}

    def divergence(in_summary: Counter[str], in_source: Counter[str]) -> float:
        if not in_summary or not in_source:
            return 1.0
        every = list(in_summary | in_source)
        p, q = ([float(count[word]) for word in every] for count in (in_summary, in_source))
        return min(1.0, float(jensenshannon(p, q, base=2)) ** 2)

    divergences = [
        divergence(Counter(lower_words(summary)), counts[source])
        for summary, source in zip(summaries, sources, strict=True)
    ]
    return np.array(divergences, dtype=np.float64)


def length(summaries: Texts) -> Floats:
    """Words in each summary."""
    return np.array([len(lower_words(summary)) for summary in summaries], dtype=np.float64)


def absent_words(summaries: Texts, sources: Texts) -> Floats:
    """Words of each summary that its source does not have, each occurrence counted; lower is
    better.

    Example:
        >>> absent_words(["A red, red dog."], ["a dog"]).tolist()
        [2.0]
    """
    known = {source: frozenset(lower_words(source)) for source in dict.fromkeys(sources)}
    counts = [
        sum(word not in known[source] for word in lower_words(summary))
        for summary, source in zip(summaries, sources, strict=True)
    ]
    return np.array(counts, dtype=np.float64)


def trivial_block() -> Block:
    """Baselines without an encoder: the number of words that do not occur in the source, the
    fractions of such words, bigrams and trigrams and their mean, new names and numbers, how much is
    copied, and the length.
    """

    def compute(data: Summaries) -> ColumnValues:
        columns = novelty(data.summaries, data.sources)
        texts = {name: np.array(columns[name], dtype=np.float64) for name in OF_TEXTS}
        return {
            "absent_words": absent_words(data.summaries, data.sources),
            **texts,
            "new_ngrams": np.mean([texts[name] for name in NEW_NGRAMS], axis=0),
            "length": length(data.summaries),
        }

    labels = {
        "absent_words": "(-)absent words",
        "new_words": "(-)new words",
        "new_bigrams": "(-)new bigrams",
        "new_trigrams": "(-)new trigrams",
        "new_ngrams": "(-)new n-grams, mean",
        "new_names": "(-)new names",
        "new_numbers": "(-)new numbers",
        "copied_density": "copied_density",
        "length": "(-)length",
    }
    return _block("Trivial", TRIVIAL, labels, "TRIVIAL|words:lower-case|n-grams:1-3", compute)


def divergence_block() -> Block:
    """`jensen_shannon` of summary and source."""

    def compute(data: Summaries) -> ColumnValues:
        return {"jensen_shannon": jensen_shannon(data.summaries, data.sources)}

    signature = f"JS|words:lower-case|base:2|{_version('scipy')}"
    labels = {"jensen_shannon": "(-)J-Shannon"}
    return _block("Jensen-Shannon", REFERENCE_FREE, labels, signature, compute)


def rouge_block(references: References) -> Block:
    """`rouge` against the references."""

    def compute(data: Summaries) -> ColumnValues:
        scores = rouge(data.summaries, references(data))
        return {column_of(name): values for name, values in scores.items()}

    signature = f"ROUGE|F1|stemmer:yes|references:mean|{_version('rouge-score')}"
    labels = {column_of(name): name for name in ROUGE.values()}
    return _block("ROUGE", REFERENCE_BASED, labels, signature, compute)


def bleu_block(references: References) -> Block:
    """`bleu` against all references."""

    def compute(data: Summaries) -> ColumnValues:
        return {"bleu": bleu(data.summaries, references(data))}

    signature = f"BLEU|case:lower|references:all|{_version('sacrebleu')}"
    return _block("BLEU", REFERENCE_BASED, {"bleu": "BLEU"}, signature, compute)


def _block(
    name: str,
    section: str,
    labels: Mapping[str, str],
    signature: str,
    compute: Callable[[Summaries], ColumnValues],
) -> Block:
    """A block of columns with these ``labels``, which needs no encoder."""
    columns = tuple(
        ScoreColumn(column, label, section, lower_is_better=label.startswith("(-)"))
        for column, label in labels.items()
    )
    return Block(name, columns, lambda: Prepared(signature, compute))


def column_of(label: str) -> str:
    """The column of a row in the tables."""
    return re.sub(r"[^a-z0-9]+", "_", label.lower())


def _version(package: str) -> str:
    try:
        return f"version:{package} {version(package)}"
    except PackageNotFoundError:
        return f"version:{package} none"
