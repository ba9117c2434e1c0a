"""How scores of inconsistent summaries change by a copied sentence, by the removal of an error, and by
marks that say nothing: the summaries of RAGTruth with an error, edited.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.cli import options
from experiments.benchmarks import ragtruth
from experiments.benchmarks.common import RUN, Run, interval_texts, show, with_interval

ANNOUNCEMENT = "This is the summary of the article."
THOUGHT = "<think>The user wants a summary. I should keep to the article.</think>"
#: Edits, in the order of tables: of what a summary says, then of how it is written.
ONE, THREE, ANNOUNCED, DELETED, TOKENIZED, LINES, MARKDOWN, OPENING, THINKING = EDITS = (
    "first sentence of the source appended",
    "first three sentences of the source appended",
    f'"{ANNOUNCEMENT}" appended',
    "one marked span deleted",
    "tokenized, with -lrb- and -rrb-",
    "<n> after each sentence",
    "Markdown: a heading, and a list of sentences",
    "opening: Here is a summary of the article in 79 words:",
    "<think>...</think> before the summary",
)
#: In place of an edit: the summary as it was written.
WRITTEN = "as written"


def read(folder: Path, limit: int | None = None) -> pd.DataFrame:
    """The summaries of `ragtruth.read` with an error, each as written and edited. The ``document`` is
    the article, a slash, the system; the ``system`` is the edit, with a number for each span; further
    columns are the ``article`` and the ``edit``, one of `EDITS` or `WRITTEN`.
    """
    data = ragtruth.read(folder, limit)
    rows = []
    for row in data[data["label"] == 0].itertuples():
        for number, (edit, text) in enumerate(versions(row.summary, row.source, row.places)):
            rows.append(
                {
                    "document": f"{row.document}/{row.system}",
                    "system": f"{edit}, {number}" if edit == DELETED else edit,
                    "article": row.document,
                    "edit": edit,
                    "source": row.source,
                    "summary": text,
                }
            )
    return pd.DataFrame(rows)


def versions(summary: str, source: str, places: list[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    """The summary as written, then each edit of it; a span is not deleted if nothing remains.

    Example:
        >>> made = dict(versions("Anna sold it.", "Anna bought it. She left. It rained.", [(5, 9)]))
        >>> made["one marked span deleted"], made["first sentence of the source appended"]
        ('Anna it.', 'Anna sold it. Anna bought it.')
    """
    sentences = re.split(r"(?<=[.!?])\s+", source.strip())
    yield WRITTEN, summary
    yield ONE, f"{summary} {sentences[0]}"
    yield THREE, " ".join([summary, *sentences[:3]])
    yield ANNOUNCED, f"{summary} {ANNOUNCEMENT}"
    own = re.split(r"(?<=[.!?])\s+", summary.strip())
    yield TOKENIZED, tokenized(summary)
    yield LINES, "".join(f"{sentence} <n> " for sentence in own).strip()
    yield MARKDOWN, "\n".join(["## Summary", "", *(f"- {sentence}" for sentence in own)])
    yield OPENING, f"Here is a summary of the article in {len(summary.split())} words:\n\n{summary}"
    yield THINKING, f"{THOUGHT}\n\n{summary}"
    for start, end in places:
        rest = " ".join((summary[:start] + summary[end:]).split())
        if rest:
            yield DELETED, rest


def tokenized(text: str) -> str:
    """A text as tokenizers of news datasets write it.

    Example:
        >>> tokenized("He didn't go (yet).")
        "He did n't go -lrb- yet -rrb- ."
    """
    mark = r"[^\w\s'-]"
    negation = r"(?=n't\b|'(?:s|re|ve|ll|d|m)\b)"
    text = re.sub(rf"{negation}|(?={mark}(?!\w))|(?<=(?<!\w){mark})", " ", text)
    return " ".join(text.replace("(", "-lrb-").replace(")", "-rrb-").split())


def changes(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """How each ``edit`` changes each measure: how many ``edits``, the mean ``change`` of the measure
    with its 95% interval over articles, and the share after which it is ``better``. Values are not
    negated: a ``(-)`` measure that falls is better.
    """
    weights = run.weights(table["article"])
    written = table[table["edit"] == WRITTEN].reset_index().set_index("document")["index"]
    before = written[table["document"]].to_numpy()
    rows: list[dict[str, Any]] = []
    for measure, scored in scores.items():
        values = scored.to_numpy()
        gains = values - values[before]
        for edit in EDITS:
            kept = np.isfinite(gains) & (table["edit"] == edit).to_numpy()
            if not kept.any():
                continue
            sign = -1.0 if str(measure).startswith("(-)") else 1.0
            drawn = weights[:, kept] @ (sign * gains[kept]) / weights[:, kept].sum(axis=1)
            rows.append(
                {
                    "measure": measure,
                    "edit": edit,
                    "edits": int(kept.sum()),
                    **with_interval(drawn, "change"),
                    "better": float((gains[kept] > 0).mean()),
                }
            )
    return pd.DataFrame(rows)


def limits(folder: Path, /, *, limit: options.PositiveCount | None = None, run: Run = RUN) -> None:
    """Measure how scores of inconsistent summaries change by a copied sentence, by the removal of an
    error, and by marks such as <n>. Writes limits.csv.

    Args:
        folder: Folder of RAGTruth, with documents.jsonl and ragtruth.jsonl.
        limit: Use only the first articles.
    """
    table = read(folder, limit)
    frame = changes(table, run.score(table), run)
    shown = frame.assign(interval=interval_texts(frame, "change", 3))
    for edit, rows in shown.groupby("edit", sort=False):
        columns = rows.set_index("measure")[["change", "interval", "better"]]
        show(f"{edit}: {rows['edits'].iloc[0]} edits", columns)
    run.save(limits=frame)
