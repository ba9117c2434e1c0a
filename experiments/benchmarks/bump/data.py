"""BUMP (Ma et al. 2023): pairs of a reference summary of CNN/DailyMail and the same summary with one
error that a person put in, with the scores of published measures.

The authors' files (github.com/dataminr-ai/BUMP, folder ``data``) are read. In task 1, the
annotators had to make an error of each type; in task 2, they chose the error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.records import read_records
from experiments.benchmarks.reading import known_first

#: Task -> its file.
TASKS = {1: "task1_dataset.json", 2: "task2_dataset.json"}
#: Parts of the articles: choices are made on ``valid``, results are reported on ``test`` or ``all``.
SPLITS = ("valid", "test", "all")
#: Articles in the split ``valid`` of task 1.
CHOSEN = 50
#: The two summaries of a pair.
REFERENCE, EDITED = "reference", "edited"
#: The fields of a record, and the one with the type of the error if the authors have corrected it.
FIELDS = (
    "id",
    "article_id",
    "article",
    "reference_summary",
    "edited_summary",
    "error_type",
    "scores",
)
CORRECTED = "corrected_error_type"


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


def error_types(occurring: Iterable[str]) -> dict[str, ErrorType]:
    """The types of error that occur, in the order of tables."""
    return {name: ERRORS.get(name, ErrorType(name)) for name in known_first(occurring, ERRORS)}


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


def read(
    folder: str | Path, task: int = 1, split: str = "all", limit: int | None = None
) -> Summaries:
    """Reads BUMP from a copy of the authors' repository, or from its folder ``data``.

    The ``document`` of a summary is the name of its pair, its ``system`` is `REFERENCE` or `EDITED`;
    further columns are the name of the ``article`` and the type of ``error`` of the pair.

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
    pairs = _read_pairs(path)
    pairs = pairs[pairs["article"].isin(_articles(pairs["article"], split, limit))]
    if not len(pairs):
        raise ValueError(
            f"Expected {path.name} to have pairs of the split {split!r}, but there are none."
        )
    names = ["document", "article", "error", "source"]
    versions = [
        pairs[names].assign(system=version, summary=pairs[f"{version}_summary"])
        for version in (REFERENCE, EDITED)
    ]
    scores = [_published(pairs["scores"], version, path) for version in (REFERENCE, EDITED)]
    # The two versions of a pair have the same index.
    table, published = (pd.concat(both).sort_index(kind="stable") for both in (versions, scores))
    return Summaries(
        origin=f"{Path(folder).name or folder}, task {task} ({split})",
        table=table.reset_index(drop=True),
        published=published.reset_index(drop=True),
        key_names=("pair", "version"),
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


def _read_pairs(path: Path) -> pd.DataFrame:
    """A row for each pair. The type of its error is the corrected one, which the authors' tables go
    by, if the task has it.
    """
    records = pd.DataFrame(read_records(path, FIELDS), columns=[*FIELDS, CORRECTED])
    names = {"id": "document", "article_id": "article", "article": "source"}
    error = records[CORRECTED].astype(object).fillna(records["error_type"])
    pairs = records.rename(columns=names).assign(error=error)
    return pairs.astype({"document": str, "article": str})


def _articles(names: pd.Series, split: str, limit: int | None) -> list[str]:
    """The articles of a split, the first ones if there is a ``limit``."""
    articles = list(names.unique())
    valid = chosen_articles(articles)
    kept = [
        article
        for article in articles
        if split == "all" or (article in valid) == (split == "valid")
    ]
    return kept[:limit]


def _published(scores: pd.Series, version: str, path: Path) -> pd.DataFrame:
    """The scores of published measures of one version: those that the first pair has."""
    ending = f"_{version}"
    table = pd.DataFrame(list(scores), index=scores.index)
    score_columns = [name for name in scores.iloc[0] if name.endswith(ending)]
    try:
        numbers = table[score_columns].astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Expected scores in {path.name} to be numbers, but got {error}."
        ) from error
    for name in score_columns:
        if len(lacking := numbers.index[numbers[name].isna()]):
            raise ValueError(
                f"Expected a score {name!r} for each pair in {path.name}, but record {lacking[0] + 1} lacks it."
            )
    named = numbers.rename(columns=lambda name: name.removesuffix(ending))
    return named[known_first(named, PUBLISHED)]
