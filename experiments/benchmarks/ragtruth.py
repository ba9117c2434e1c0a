"""RAGTruth (Niu et al. 2024): summaries of news that six language models wrote, with the spans that
people marked as not supported by the article.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.cli import options
from estime_metric.explanation import Explanation
from estime_metric.scorer import EstimeScorer
from estime_metric.verdicts import KINDS
from experiments.benchmarks.common import (
    RUN,
    Run,
    interval_texts,
    records,
    show,
    with_interval,
    with_sources,
)
from experiments.benchmarks.detection import cross_validated, detect
from experiments.benchmarks.statistics import areas, areas_within

#: Detector -> what was published of it, on all 150 articles and with slightly other annotations. The
#: figures of HHEM-2.1-open are its authors'. The F1 of the others is in a reprint of the table of
#: LettuceDetect's authors (Gerner et al. 2025, table 1), except LettuceDetect's base model, which it
#: lacks. Accuracies other than HHEM's are derived from precision and recall, because 204 of the 900
#: summaries have an error. RAG-HAT, LettuceDetect and Llama 2 were trained on RAGTruth, Luna according
#: to the reprint.
PUBLISHED_VALUES = {
    "RAG-HAT": {"accuracy": 0.774, "f1": 0.676},
    "LettuceDetect, large": {"accuracy": 0.733, "f1": 0.597},
    "Llama 2 13B, fine-tuned": {"accuracy": 0.729, "f1": 0.591},
    "Luna": {"accuracy": 0.714, "f1": 0.525},
    "LettuceDetect, base": {"accuracy": 0.678, "f1": 0.505},
    "GPT-4-turbo, a prompt": {"accuracy": 0.677, "f1": 0.476},
    "HHEM-2.1-open": {"accuracy": 0.644, "f1": 0.448},
    "TruLens": {"accuracy": 0.641, "f1": 0.445},
    "RAGAS": {"accuracy": 0.625, "f1": 0.408},
}


def read(folder: Path, limit: int | None = None) -> pd.DataFrame:
    """The summaries of a folder. Further columns are the ``label``, 1 for a summary without a marked
    span, otherwise 0, and ``places``, the spans: begin and end in characters of the summary.

    Args:
        folder: has ``documents.jsonl`` (``doc_id``, ``source``) and ``ragtruth.jsonl`` (``doc_id``,
            ``system``, ``summary``, ``label``, ``spans``: begin, end, kind of error).
        limit: only the first articles.
    """
    table = with_sources(records(folder / "ragtruth.jsonl"), folder / "documents.jsonl")
    table = table[table["document"].isin(table["document"].unique()[:limit])]
    table = table.reset_index(drop=True)
    places = [[(start, end) for start, end, _ in spans] for spans in table["spans"]]
    return table.drop(columns="spans").assign(places=places)


def analyze(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """`detect` over all summaries, of a baseline that flags everything too: each half of the articles,
    every other one, is classified by the threshold of the other half. ``within`` is the area over pairs
    of summaries of one language model, ``more`` the area minus the one of the first measure, each with
    its interval. Below it published values.
    """
    halves = pd.Series(pd.factorize(table["document"])[0] % 2)
    scores = scores.assign(**{"flag everything": np.zeros(len(table))})
    computed = detect(
        table,
        scores,
        {"all": table.index},
        lambda rows: cross_validated(rows, halves),
        "document",
        run,
    )
    weights, labels = run.weights(table["document"]), table["label"].to_numpy()
    systems = pd.factorize(table["system"])[0]
    rows, first = [], None
    for name in computed["measure"]:
        values = scores[name].to_numpy()
        area = areas(labels, values, weights)
        first = area if first is None else first
        within = areas_within(labels, values, weights, systems)
        rows.append(with_interval(within, "within") | with_interval(area - first, "more"))
    published = pd.DataFrame.from_dict(PUBLISHED_VALUES, orient="index").rename_axis("measure")
    computed = computed.join(pd.DataFrame(rows))
    return pd.concat([computed, published.reset_index()], ignore_index=True)


def judged_words(
    explanations: Sequence[Explanation], places: Sequence[Sequence[tuple[int, int]]]
) -> pd.DataFrame:
    """A row for each word of explained summaries, punctuation included: ``summary``, the index of its
    summary; ``kind`` (one of `KINDS`, empty if it is not among the surest words); ``marked``, whether it
    shares a character with one of the ``places`` (begin, end) marked in its summary.
    """
    rows = []
    for index, (explanation, marked) in enumerate(zip(explanations, places, strict=True)):
        for word in explanation.words:
            is_marked = any(word.start < end and start < word.end for start, end in marked)
            kind = "" if word.is_minor else word.kind or ""
            rows.append((index, kind, is_marked))
    return pd.DataFrame(rows, columns=["summary", "kind", "marked"])


def signals(words: pd.DataFrame) -> pd.DataFrame:
    """How well words of each of `KINDS`, new ones and flagged ones find the marked words: how many are
    ``flagged``; ``precision``, the share of these that are marked; ``recall``, the share of all marked
    words that are flagged; ``lift``, precision divided by the share of all words that are marked: 1 is
    chance.

    Example:
        >>> kinds = ["new name", "alarm", "", ""]
        >>> words = pd.DataFrame({"kind": kinds, "marked": [True, False, False, False]})
        >>> signals(words).loc["all flagged words"].tolist()
        [2.0, 0.5, 1.0, 2.0]
    """
    flags = {kind: words["kind"] == kind for kind in KINDS}
    flags["all new words"] = ~words["kind"].isin(["", "alarm"])
    flags["all flagged words"] = words["kind"] != ""
    marked = words["marked"]
    rows = {
        name: (flagged.sum(), marked[flagged].mean(), flagged[marked].mean())
        for name, flagged in flags.items()
    }
    columns = ["flagged", "precision", "recall"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.assign(lift=table["precision"] / marked.mean()).rename_axis("words")


def ragtruth(
    folder: Path,
    /,
    *,
    words: bool = False,
    limit: options.PositiveCount | None = None,
    run: Run = RUN,
) -> None:
    """Detect errors in summaries that language models wrote: RAGTruth, Niu et al. 2024.

    Prints areas under the ROC curve, their differences from the first measure, areas over pairs of
    summaries of one language model, balanced accuracies with a threshold from the other half of the
    articles, and F1 of the inconsistent summaries, next to published detectors. Writes ragtruth.csv, or
    ragtruth-words.csv.

    Args:
        folder: Folder with documents.jsonl (doc_id, source) and ragtruth.jsonl (doc_id, system, summary,
            label: 1 if nothing is marked, otherwise 0, spans: begin, end, kind).
        words: Evaluate individual words instead of summaries: compare new names, new numbers, other
            new words and alarms with the spans that annotators marked.
        limit: Use only the first articles.
    """
    table = read(folder, limit)
    if words:
        scorer = EstimeScorer(**run.metric.settings())
        pairs = list(table["summary"]), list(table["source"])
        explained = scorer.explain_pairs(*pairs, progress=True)
        judged = judged_words(explained, list(table["places"]))
        found = signals(judged)
        show(f"RAGTruth: {len(judged)} words, {judged['marked'].mean():.1%} marked", found)
        run.save(**{"ragtruth-words": found.reset_index()})
        return
    frame = analyze(table, run.score(table), run)
    shown = frame.set_index("measure")
    columns: dict[str, Any] = {}
    for value in ("area", "more", "within", "accuracy", "f1"):
        columns |= {value: shown[value], f"95%, {value}": interval_texts(shown, value)}
    about = f"{len(table)} summaries, {(table['label'] == 0).sum()} with an error"
    show(f"RAGTruth: {about}", pd.DataFrame(columns, shown.index))
    run.save(ragtruth=frame)
