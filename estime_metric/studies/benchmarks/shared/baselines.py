"""Measures that the paper's tables set beside ESTIME, and trivial ones that any measure should
beat, each also a block.

All take lists of texts and return float64 of shape (summaries,); lists of other lengths raise
ValueError. Words are runs of letters, digits and ``_``, lower-cased. An empty summary has ROUGE,
BLEU and lengths of 0, a divergence of 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from estime_metric.comparison.checks import Floats
from estime_metric.inputs import check_choice, check_pairs
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_BASED,
    REFERENCE_FREE,
    TRIVIAL,
    Advance,
    Block,
    ColumnValues,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import Summaries

Texts = Sequence[str]
References = Callable[[Any], Sequence[Texts]]
#: How the values against several references become one.
COMBINE: dict[str, Callable[[Sequence[float]], Any]] = {
    "mean": np.mean,
    "max": max,
    "first": np.mean,
}
ROUGE = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rouge3": "ROUGE-3", "rougeLsum": "ROUGE-L"}


def rouge(
    summaries: Texts,
    references: Sequence[Texts],
    *,
    combine: str = "mean",
    advance: Advance | None = None,
) -> dict[str, Floats]:
    """ROUGE-1, -2, -3 and -L (Lin 2004), F1 of stemmed words, between 0 and 1; higher is better.

    The paper takes ``rouge-score`` with ``rougeLsum`` for ROUGE-L (section 3.1) and does not say
    how it treats eleven references. The mean over them, with stemming, gives its rows. ``combine``
    is ``"mean"`` or ``"max"`` over the references, or ``"first"``, which takes the first alone;
    ``advance`` is called after each summary. Raises ImportError without ``rouge-score``, ValueError
    for a summary without references or another ``combine``.

    Example:
        >>> scores = rouge(["the cat sat"], [["the cat sat", "a dog"]])
        >>> float(scores["ROUGE-1"][0]), float(scores["ROUGE-2"][0])
        (0.5, 0.5)
    """
    try:
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer
    except ImportError as error:
        raise ImportError("ROUGE needs rouge-score: pip install 'estime-metric[meta]'.") from error
    tokenizer = DefaultTokenizer(use_stemmer=True)
    tokenizer.tokenize = lru_cache(maxsize=1000)(
        tokenizer.tokenize
    )  # a reference comes back with every system
    scorer = RougeScorer(list(ROUGE), tokenizer=tokenizer)
    scores: dict[str, list[float]] = {name: [] for name in ROUGE.values()}
    for summary, texts in each(summaries, references, combine, advance):
        found = [scorer.score(text, summary) for text in texts]
        for key, name in ROUGE.items():
            scores[name].append(COMBINE[combine]([values[key].fmeasure for values in found]))
    return {name: np.array(values, dtype=np.float64) for name, values in scores.items()}


def bleu(
    summaries: Texts,
    references: Sequence[Texts],
    *,
    first: bool = False,
    advance: Advance | None = None,
) -> Floats:
    """Sentence BLEU (Papineni et al. 2002) of ``sacrebleu``, between 0 and 100; higher is better.

    All references at once, as BLEU defines it, or the ``first`` alone; lower-cased, tokenization
    ``13a``, exponential smoothing. The paper takes NLTK's, with settings that it does not state:
    its row differs. Raises ImportError without ``sacrebleu``; ``advance`` is called after each
    summary.
    """
    try:
        from sacrebleu import sentence_bleu
    except ImportError as error:
        raise ImportError("BLEU needs sacrebleu: pip install 'estime-metric[meta]'.") from error
    pairs = each(summaries, references, "first" if first else "max", advance)
    return np.array(
        [sentence_bleu(text, others, lowercase=True).score for text, others in pairs],
        dtype=np.float64,
    )


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
    try:
        from scipy.spatial.distance import jensenshannon
    except ImportError as error:
        raise ImportError(
            "The Jensen-Shannon divergence needs scipy: pip install 'estime-metric[meta]'."
        ) from error
    counts = {source: Counter(words(source)) for source in dict.fromkeys(sources)}

    def divergence(of_summary: Counter[str], of_source: Counter[str]) -> float:
        if not of_summary or not of_source:
            return 1.0
        every = list(of_summary | of_source)
        p, q = ([float(count[word]) for word in every] for count in (of_summary, of_source))
        return min(1.0, float(jensenshannon(p, q, base=2)) ** 2)

    pairs = zip(*check_pairs(summaries, sources, "summaries"), strict=True)
    return np.array(
        [divergence(Counter(words(text)), counts[source]) for text, source in pairs],
        dtype=np.float64,
    )


def length(summaries: Texts) -> Floats:
    """Words in each summary."""
    return np.array([len(words(summary)) for summary in summaries], dtype=np.float64)


def absent_words(summaries: Texts, sources: Texts) -> Floats:
    """Words of each summary that its source does not have, each occurrence counted; lower is
    better.

    Example:
        >>> absent_words(["A red, red dog."], ["a dog"]).tolist()
        [2.0]
    """
    known = {source: frozenset(words(source)) for source in dict.fromkeys(sources)}
    pairs = zip(*check_pairs(summaries, sources, "summaries"), strict=True)
    counts = [
        sum(word not in known[source] for word in words(summary)) for summary, source in pairs
    ]
    return np.array(counts, dtype=np.float64)


def new_trigrams(summaries: Texts, sources: Texts) -> Floats:
    """Share of the runs of three words of each summary that its source does not have, 0 to 1; lower
    is more copied. Of shorter summaries the run is the whole summary; one without words has 1.

    Example:
        >>> new_trigrams(["a red dog sat", "a dog"], ["the red dog sat", "a dog"]).tolist()
        [0.5, 0.0]
    """
    values = []
    for summary, source in zip(*check_pairs(summaries, sources, "summaries"), strict=True):
        own, known = words(summary), words(source)
        size = min(3, len(own))
        runs = [tuple(own[start : start + size]) for start in range(len(own) - size + 1)]
        there = {tuple(known[start : start + size]) for start in range(len(known) - size + 1)}
        values.append(float(np.mean([run not in there for run in runs])) if own else 1.0)
    return np.array(values, dtype=np.float64)


def words(text: str) -> list[str]:
    """The words of a text, lower-cased."""
    return re.findall(r"\w+", text.lower())


def each(
    summaries: Texts, references: Sequence[Texts], combine: str, advance: Advance | None
) -> Iterator[tuple[str, Texts]]:
    """Each summary with those of its references that count; calls ``advance`` when the caller is
    done with it.
    """
    check_choice("combine", combine, COMBINE)
    if len(summaries) != len(references):
        raise ValueError(
            f"Expected argument `references` to have one entry for each of {len(summaries)} summaries, but got "
            f"{len(references)}."
        )
    for index, (summary, texts) in enumerate(zip(summaries, references, strict=True)):
        if not texts or isinstance(texts, str):
            raise ValueError(
                f"Expected argument `references` to contain a list of texts at {index}, but got {texts!r}."
            )
        yield summary, texts[:1] if combine == "first" else texts
        if advance is not None:
            advance(1)


def trivial_block() -> Block:
    """Words that the source lacks, their share, the share of runs of three words that it lacks, and
    words.
    """

    def compute(data: Summaries, _: Advance) -> list[Floats]:
        texts = data.summaries, data.source_of_each
        absent, counted = absent_words(*texts), length(data.summaries)
        share = np.divide(absent, counted, out=np.ones_like(absent), where=counted > 0)
        return [absent, share, new_trigrams(*texts), counted]

    labels = ("(-)absent words", "(-)absent share", "(-)new trigrams", "(-)length")
    return _block("Trivial", TRIVIAL, labels, "TRIVIAL|words:lower-case|trigrams", compute)


def divergence_block() -> Block:
    """`jensen_shannon` of summary and source."""

    def compute(data: Summaries, _: Advance) -> ColumnValues:
        return {"jensen_shannon": jensen_shannon(data.summaries, data.source_of_each)}

    column = ScoreColumn("jensen_shannon", "(-)J-Shannon", REFERENCE_FREE, lower_is_better=True)
    signature = f"JS|words:lower-case|base:2|{_version('scipy')}"
    return Block("Jensen-Shannon", (column,), lambda: Prepared(signature, compute))


def rouge_block(references: References | None, combine: str = "mean") -> Block:
    """`rouge` against references; against the sources, in their place, where ``references`` is
    ``None``.
    """
    section, suffix, against = REFERENCE_BASED, "", combine
    if references is None:
        section, suffix, against = REFERENCE_FREE, ", source", "source"

    def compute(data: Summaries, advance: Advance) -> list[Floats]:
        texts = (
            [[source] for source in data.source_of_each] if references is None else references(data)
        )
        return list(rouge(data.summaries, texts, combine=combine, advance=advance).values())

    signature = f"ROUGE|F1|stemmer:yes|references:{against}|{_version('rouge-score')}"
    return _block(
        "ROUGE", section, [f"{name}{suffix}" for name in ROUGE.values()], signature, compute
    )


def bleu_block(references: References, combine: str = "mean") -> Block:
    """`bleu` against all references, against the first alone where ``combine`` is ``"first"``."""
    first = combine == "first"

    def compute(data: Summaries, advance: Advance) -> list[Floats]:
        return [bleu(data.summaries, references(data), first=first, advance=advance)]

    signature = f"BLEU|case:lower|references:{'first' if first else 'all'}|{_version('sacrebleu')}"
    return _block("BLEU", REFERENCE_BASED, ["BLEU"], signature, compute)


def column_of(label: str) -> str:
    """The column of a row in the tables."""
    return re.sub(r"[^a-z0-9]+", "_", label.removeprefix("(-)").lower())


def _block(
    name: str,
    section: str,
    labels: Sequence[str],
    signature: str,
    compute: Callable[[Any, Advance], list[Floats]],
) -> Block:
    """A block whose function gives the scores in the order of the labels."""
    columns = tuple(
        ScoreColumn(column_of(label), label, section, label.startswith("(-)")) for label in labels
    )

    def by_name(data: Any, advance: Advance) -> ColumnValues:
        names = [column.name for column in columns]
        return dict(zip(names, compute(data, advance), strict=True))

    return Block(name, columns, lambda: Prepared(signature, by_name))


def _version(package: str) -> str:
    try:
        return f"version:{package} {version(package)}"
    except PackageNotFoundError:
        return f"version:{package} none"
