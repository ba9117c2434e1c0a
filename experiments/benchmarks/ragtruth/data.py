"""RAGTruth (Niu et al. 2024): summaries of news that six language models wrote, with the spans that
people marked as not supported by the article.
"""

from __future__ import annotations

from pathlib import Path

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.records import join, read_frame
from experiments.benchmarks.reading import check_labels

DOCUMENTS, JUDGED = "documents.jsonl", "ragtruth.jsonl"


def read(folder: str | Path, limit: int | None = None) -> Summaries:
    """Reads the summaries of a folder, all of one article together.

    Further columns of the table are the ``label``, 1 for a summary without a marked span, otherwise
    0, and ``places``, the spans: begin and end in characters of the summary.

    Args:
        folder: has ``documents.jsonl`` (``doc_id``, ``source``) and ``ragtruth.jsonl`` (``doc_id``,
            ``system``, ``summary``, ``label``, ``spans``: begin, end, kind of error).
        limit: only the first articles.

    Raises:
        OSError: a file is missing.
        ValueError: a record without a field, a missing text, or a label that is neither 0 nor 1.
    """
    folder = Path(folder)
    fields = ("doc_id", "system", "summary", "label", "spans")
    judged = read_frame(folder / JUDGED, fields, doc_id="document")
    sources = read_frame(folder / DOCUMENTS, ("doc_id", "source"), doc_id="document")
    table = join(judged, sources, ["document"], "a source for each document")
    check_labels(table, JUDGED)
    kept = table["document"].unique()[:limit]
    table = table[table["document"].isin(kept)].reset_index(drop=True)
    places = [[(start, end) for start, end, _ in spans] for spans in table["spans"]]
    return Summaries(
        origin=folder.name or str(folder), table=table.drop(columns="spans").assign(places=places)
    )
