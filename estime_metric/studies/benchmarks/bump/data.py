"""BUMP (Ma et al. 2023): pairs of a reference summary of CNN/DailyMail and the same summary with one
error that a person put in, with the scores of published measures.

The authors' files (github.com/dataminr-ai/BUMP, folder ``data``) are read. In task 1, the
annotators had to make an error of each type; in task 2, they chose the error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from estime_metric.stats.checks import Floats, listed
from estime_metric.studies.benchmarks.shared.data import Crossed
from estime_metric.studies.benchmarks.shared.records import Record, digest, read_records
from estime_metric.validation import check_choice, integer

#: Task -> its file.
TASKS = {1: "task1_dataset.json", 2: "task2_dataset.json"}
#: Parts of the articles: choices are made on ``valid``, results are reported on ``test`` or ``all``.
SPLITS = ("valid", "test", "all")
#: Articles in the split ``valid`` of task 1.
CHOSEN = 50
#: The two summaries of a pair.
REFERENCE, EDITED = "reference", "edited"


class ErrorType(NamedTuple):
    """What a type of error is called in tables: what is wrong, and whether the source has the wrong
    words (intrinsic) or not (extrinsic).
    """

    what: str
    kind: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, self))


#: Types of error in the order of tables; other types follow.
ERRORS = {
    "Intrinsic Predicate Error": ErrorType("predicate", "intrinsic"),
    "Extrinsic Predicate Error": ErrorType("predicate", "extrinsic"),
    "Intrinsic Entity Error": ErrorType("entity", "intrinsic"),
    "Extrinsic Entity Error": ErrorType("entity", "extrinsic"),
    "Intrinsic Circumstance Error": ErrorType("circumstance", "intrinsic"),
    "Extrinsic Circumstance Error": ErrorType("circumstance", "extrinsic"),
    "Coreference Error": ErrorType("coreference"),
}
#: Published measures in the order of tables: by their consistency in task 1. Others follow.
PUBLISHED = (
    "BARTScore",
    "CoCo",
    "DAE",
    "QAFactEval",
    "BERTScore",
    "QuestEval",
    "BLEURT",
    "SummaC",
    "ROUGE-2",
    "BLEU",
    "Q2",
    "FactCC",
)
_FIELDS = ("id", "article_id", "article", "reference_summary", "edited_summary", "scores")


@dataclass(frozen=True, eq=False)
class Bump(Crossed):
    """Pairs of summaries, at least one: a reference and the same with an error.

    Attributes:
        origin: where the data comes from.
        documents: names of the N pairs; each has the two ``systems`` `REFERENCE` and `EDITED`.
        articles: the article of each pair.
        errors: the type of error of each pair.
        summaries: 2 N texts, the reference of a pair before its edited summary.
        source_of_each: 2 N articles' texts.
        published: published measure -> its scores of the summaries, float64 of shape (2 N,); higher
            is better.
    """

    origin: str
    documents: tuple[str, ...]
    articles: tuple[str, ...]
    errors: tuple[str, ...]
    summaries: tuple[str, ...]
    source_of_each: list[str]
    published: Mapping[str, Floats]
    systems: tuple[str, ...] = (REFERENCE, EDITED)
    key_names = ("pair", "version")

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with any text, name, type of error or published score."""
        scores = {name: values.tolist() for name, values in self.published.items()}
        texts = self.summaries, self.source_of_each
        return digest(self.documents, self.articles, self.errors, texts, scores)

    @cached_property
    def error_types(self) -> dict[str, ErrorType]:
        """The types of error that occur, in the order of tables."""
        occurring = dict.fromkeys(self.errors)
        known = {name: error for name, error in ERRORS.items() if name in occurring}
        return known | {name: ErrorType(name) for name in occurring if name not in known}


def chosen_articles(articles: Iterable[str], count: int = CHOSEN) -> frozenset[str]:
    """The articles of the split ``valid``: those with the smallest SHA-256 of their id.

    Args:
        articles: ids, in any order, each any number of times.
        count: how many are chosen; all if there are fewer.

    Example:
        >>> sorted(chosen_articles(["628", "7", "12", "12"], count=2))
        ['12', '628']
    """

    def smallest(article: str) -> str:
        return hashlib.sha256(article.encode()).hexdigest()

    return frozenset(sorted(set(articles), key=smallest)[:count])


def read(folder: str | Path, task: int = 1, split: str = "all", limit: int | None = None) -> Bump:
    """Reads BUMP from a copy of the authors' repository, or from its folder ``data``.

    Args:
        folder: has ``task1_dataset.json`` or ``task2_dataset.json``, or the folder ``data`` with
            them.
        task: 1 or 2.
        split: ``"valid"`` for the articles of `chosen_articles`, ``"test"`` for the others,
            ``"all"``.
        limit: only the first articles of the split.

    Raises:
        OSError: the file is missing.
        ValueError: a record without a field, a pair twice, a score that is not a finite number, or
            an invalid argument.
    """
    check_choice("split", split, SPLITS)
    check_choice("task", task, TASKS)
    path = _file(Path(folder), TASKS[task])
    rows = [{**row, "article_id": str(row["article_id"])} for row in read_records(path, _FIELDS)]
    names = [str(row["id"]) for row in rows]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"Expected {path.name} to have each pair once, but got twice {listed(twice)}."
        )
    kept = _articles(rows, split, limit)
    rows = [row for row in rows if row["article_id"] in kept]
    if not rows:
        raise ValueError(
            f"Expected {path.name} to have pairs of the split {split!r}, but there are none."
        )
    return Bump(
        origin=f"{Path(folder).name or folder}, task {task} ({split})",
        documents=tuple(str(row["id"]) for row in rows),
        articles=tuple(row["article_id"] for row in rows),
        errors=tuple(_error_of(row, path) for row in rows),
        summaries=tuple(
            row[f"{version}_summary"] for row in rows for version in (REFERENCE, EDITED)
        ),
        source_of_each=[row["article"] for row in rows for _ in (REFERENCE, EDITED)],
        published=_published(rows, path),
    )


def _file(folder: Path, name: str) -> Path:
    path = next(
        (place / name for place in (folder, folder / "data") if (place / name).is_file()), None
    )
    if path is None:
        raise FileNotFoundError(
            f"Expected {str(folder)!r} to have {name} or data/{name}, but it has neither."
        )
    return path


def _articles(rows: Iterable[Record], split: str, limit: int | None) -> frozenset[str]:
    """The articles of a split, the first ones if there is a ``limit``."""
    articles = list(dict.fromkeys(row["article_id"] for row in rows))
    valid = chosen_articles(articles)
    kept = [
        article
        for article in articles
        if split == "all" or (article in valid) == (split == "valid")
    ]
    return frozenset(kept if limit is None else kept[: integer("limit", limit, 1)])


def _error_of(row: Record, path: Path) -> str:
    """The type that the authors' tables go by: the corrected one, if the task has it."""
    for field in ("corrected_error_type", "error_type"):
        if field in row:
            return str(row[field])
    raise ValueError(
        f"Expected each record of {path.name} to have 'error_type', but the record of pair {row['id']} does not."
    )


def _published(rows: list[Record], path: Path) -> dict[str, Floats]:
    """The published scores: the measures that every pair has, for both of its summaries."""
    names = [
        name.removesuffix(f"_{REFERENCE}")
        for name in rows[0]["scores"]
        if name.endswith(f"_{REFERENCE}")
    ]
    ordered = [name for name in PUBLISHED if name in names]
    ordered += [name for name in names if name not in PUBLISHED]
    scores = {}
    for name in ordered:
        cells = [
            row["scores"].get(f"{name}_{version}")
            for row in rows
            for version in (REFERENCE, EDITED)
        ]
        try:
            values = np.array(cells, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Expected the scores of {name} in {path.name} to be numbers, but got {error}."
            ) from error
        if len(bad := np.flatnonzero(~np.isfinite(values))):
            pair = rows[bad[0] // 2]["id"]
            raise ValueError(
                f"Expected two scores of {name} for each pair in {path.name}, but pair {pair} lacks one."
            )
        scores[name] = values
    return scores
