"""The scores of coherence measures that Steen & Markert 2022 published, and the judgements.

Table 4 of the paper (shuffle test) can be reproduced to the last digit. Tables 1, 3 and 5 cannot:
only 16 of their 17 systems have judgements.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from estime_metric.studies.benchmarks.coherence_scores.published import LABELS
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.records import crossed, join, read_frame
from estime_metric.studies.columns import KEY

COMPONENTS = ("cola", "redundancy", "lm", "focus")


@dataclass(frozen=True, eq=False, kw_only=True)
class CoherenceScores(Summaries):
    """The published scores, and the judgements of coherence.

    The table has every document that is judged, with every system, all systems of the first
    document first; ``coherence`` is the mean of the experts, higher is better. Further columns are the
    scores of each published measure. There are no sources: no measure reads them.

    Attributes:
        published: the columns of published measures, the names of their files.
        shuffle: measure -> its scores on the shuffle test, see `read_shuffle_scores`.
        components: a column for each component of GRUEN, and the rows of the table.
        annotations: the coherence that each expert judged, a column for each expert, and the rows
            of the table.
        references: the summary of CNN/DailyMail of each document, its first reference.
        properties: by system, also without judgements: ``name``, ``extractive``,
            ``pretrained_transformer``, ``produces_capitals``.
    """

    published: list[str]
    shuffle: dict[str, pd.DataFrame]
    components: pd.DataFrame
    annotations: pd.DataFrame
    references: list[str]
    properties: pd.DataFrame

    @property
    def names(self) -> list[str]:
        """The systems as the paper calls them."""
        return [self.properties["name"].get(system, system) for system in self.systems]


def read(folder: Path) -> CoherenceScores:
    """Reads a folder with ``summeval/``, ``coherence_scores/`` and ``shuffle/``.

    They have judgements and properties of the systems, scores of each measure on SummEval, and
    scores on the shuffle test. OSError for a missing file, ValueError for a missing column or score
    and a cell that occurs twice; the message names it.
    """
    scores = folder / "coherence_scores"
    measures = [name for name in LABELS if (scores / f"{name}.csv").is_file()]
    if not measures:
        raise FileNotFoundError(f"Expected scores of measures in {str(scores)!r}, but found none.")
    fields = ("doc_id", "system", "summary", "coherence")
    judged = read_frame(folder / "summeval" / "summeval.jsonl", fields, doc_id="document")
    table = crossed(judged, "summeval.jsonl").astype({"coherence": float})
    published = {
        name: _read_scores(scores / f"{name}.csv", table, ["score"])["score"] for name in measures
    }
    shuffled = {name: folder / "shuffle" / f"{name}.csv" for name in LABELS}
    references = read_frame(folder / "summeval" / "references.jsonl", ("doc_id", "references"))
    properties = ("system", "name", "extractive", "pretrained_transformer", "produces_capitals")
    return CoherenceScores(
        origin=folder.name or str(folder),
        table=table.assign(source="", **published),
        published=measures,
        shuffle={
            name: read_shuffle_scores(path) for name, path in shuffled.items() if path.is_file()
        },
        components=_read_scores(scores / "gruen_components.csv", table, list(COMPONENTS)),
        annotations=_read_annotations(folder / "summeval" / "annotations.jsonl", table),
        references=[texts[0] for texts in references["references"]],
        properties=read_frame(folder / "summeval" / "systems.csv", properties).set_index("system"),
    )


def _read_annotations(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Each expert's judgements of coherence of each summary of the table."""
    rows = read_frame(path, ("doc_id", "system", "expert"), doc_id="document")
    rows = join(table[KEY], rows, KEY, f"{path.name} to have each summary")
    judgements = [expert["coherence"] for expert in rows["expert"]]
    return pd.DataFrame(judgements, index=rows.index, dtype=float)


def _read_scores(path: Path, table: pd.DataFrame, fields: list[str]) -> pd.DataFrame:
    """Some fields of each summary of the table as numbers."""
    scores = read_frame(path, ("doc", "system", *fields), doc="document")
    what = f"{path.name} to have each summary"
    return join(table[KEY], scores, KEY, what)[fields].astype(float)


def read_shuffle_scores(path: Path) -> pd.DataFrame:
    """The scores of a measure on the shuffle test, a CSV file with columns id, label (1, 0) and
    score: a row for each text, the scores of the ``original`` and of its ``shuffled`` form.

    A text that lacks its original or its shuffled form, or has one twice, is named (ValueError).
    """
    rows = read_frame(path, ("id", "label", "score"))
    labels = rows.groupby("id", sort=False)["label"].agg(
        lambda text_labels: ", ".join(sorted(text_labels))
    )
    for name, text_labels in labels[labels != "0, 1"].items():
        raise ValueError(
            f"Expected labels 0 and 1 of {name!r} in {path.name!r}, but got {text_labels}."
        )
    scores = rows.astype({"score": float}).pivot(index="id", columns="label", values="score")
    scores = scores.reindex(index=labels.index, columns=["1", "0"])
    return scores.set_axis(["original", "shuffled"], axis=1)
