"""Each summary clean and with subtle errors: as a benchmark, and as labelled rows for `evaluate`
and others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric.inputs import check_choice, check_pairs, check_texts
from estime_metric.studies.benchmarks.shared.records import check_all, digest, read_field
from estime_metric.studies.benchmarks.shared.scoring import Crossed
from estime_metric.studies.benchmarks.subtle_errors.generator import Corrupted, SubtleErrors

if TYPE_CHECKING:
    from datasets import Dataset

Row = dict[str, Any]
#: The paper's texts (section 4) on the Hub, and the edition of the data set in which names are not
#: replaced by numbers.
CNN_DAILYMAIL, CNN_DAILYMAIL_EDITION = "abisee/cnn_dailymail", "3.0.0"
#: Fields of a row and of each of its errors, with their types as ``datasets`` names them.
FIELDS = dict.fromkeys(("id", "pair", "source", "summary"), "string")
FIELDS |= dict.fromkeys(("label", "n_errors", "n_missing"), "int64")
ERROR_FIELDS = dict.fromkeys(("start", "end", "clean_start", "clean_end"), "int64")
ERROR_FIELDS |= {
    "original": "string",
    "replacement": "string",
    "rank": "int64",
    "probability": "float64",
}
ERROR_FIELDS |= {"step": "int64"}
#: Numbers of errors: the paper's 3, fewer and more.
NUMBERS = (1, 3, 5)


@dataclass(frozen=True, eq=False)
class Versions(Crossed):
    """Every summary clean and with each number of errors, as a benchmark: pairs for documents,
    numbers for systems.

    ``corrupted`` are the pairs' summaries with all errors, ``numbers`` ascend, ``generator`` is the
    errors' signature; ``versions`` and their texts, the ``summaries``, are those of the first pair,
    the clean one first, then of the next.
    """

    documents: tuple[str, ...]
    systems: tuple[str, ...]
    sources: list[str]
    corrupted: list[Corrupted]
    numbers: tuple[int, ...]
    generator: str
    versions: list[Corrupted]
    summaries: tuple[str, ...]
    source_of_each: list[str]
    digest: str
    origin: str = "the pairs"
    key_names = ("pair", "n_errors")

    def complete(self, number: int) -> list[int]:
        """Indices of the pairs whose summary has that many errors."""
        return [index for index, one in enumerate(self.corrupted) if len(one.errors) >= number]


def make_versions(
    sources: Sequence[str],
    summaries: Sequence[str],
    corrupt: SubtleErrors,
    *,
    numbers: Sequence[int] = NUMBERS,
    names: Sequence[str] | None = None,
    progress: bool = False,
) -> Versions:
    """Puts errors into summaries, which are taken to be free of errors.

    ``numbers`` ascend to as many as ``corrupt`` makes; ``names`` are the pairs', their indices
    where left out.

    Raises:
        TypeError, ValueError: a bad argument; the message names it.
        EncoderUnavailableError: the generator's model cannot be loaded.
    """
    texts, originals = check_pairs(sources, summaries, "sources", "summaries")
    found = tuple(numbers)
    if (
        not found
        or list(found) != sorted(set(found))
        or found[0] < 1
        or found[-1] != corrupt.n_errors
    ):
        raise ValueError(
            f"Expected argument `numbers` to ascend from at least 1 to the {corrupt.n_errors} errors that are made, "
            f"but got {found}."
        )
    documents = tuple(map(str, names if names is not None else range(len(texts))))
    corrupted, all_numbers = corrupt(originals, progress=progress), (0, *found)
    versions = [one.first(number) for one in corrupted for number in all_numbers]
    summaries = tuple(one.text for one in versions)
    return Versions(
        documents=documents,
        systems=tuple(map(str, all_numbers)),
        sources=texts,
        corrupted=corrupted,
        numbers=found,
        generator=corrupt.signature,
        versions=versions,
        summaries=summaries,
        source_of_each=[source for source in texts for _ in all_numbers],
        digest=digest(documents, texts, summaries, corrupt.signature),
    )


def labelled_rows(
    sources: Sequence[str],
    corrupted: Sequence[Corrupted],
    n_errors: Sequence[int] | None = None,
    ids: Sequence[str] | None = None,
) -> list[Row]:
    """One row for each clean summary and one for each number of errors in it.

    Args:
        sources, corrupted: one source for each summary, and what `SubtleErrors` made of the
            summaries.
        n_errors: numbers of errors; the errors of the smaller are among those of the larger.
            ``None``: all errors.
        ids: a name for each pair; ``None`` counts from 0.

    Returns:
        Pair after pair, the clean row first. ``label`` is 1 for clean and 0 for corrupted,
        ``n_errors`` the errors that are in the summary, ``n_missing`` how many fewer than asked
        for; ``errors`` holds a row with ``ERROR_FIELDS`` for each. A summary into which no error
        could be put has its clean row alone.
    """
    texts = check_texts("sources", sources)
    names = [*map(str, range(len(texts)))] if ids is None else check_texts("ids", ids)
    if not len(texts) == len(corrupted) == len(names):
        raise ValueError(
            f"Expected arguments `sources`, `corrupted` and `ids` to be of one length, "
            f"but got {len(texts)}, {len(corrupted)} and {len(names)}."
        )
    rows = []
    for source, most, name in zip(texts, corrupted, names, strict=True):
        numbers = [len(most.errors) + most.n_missing] if n_errors is None else n_errors
        for number in (0, *numbers):
            version = most.first(number)
            if number == 0 or version.errors:
                rows.append(_row(name, source, version, number))
    return rows


def to_dataset(rows: Sequence[Row], description: str = "") -> Dataset:
    """The rows of `labelled_rows` as a ``datasets.Dataset`` with the types of ``FIELDS``, also
    where there is none.

    ``description`` is what the data set says of itself, for example `SubtleErrors.signature`.
    Raises ImportError where ``datasets`` is not installed.
    """
    datasets = _import_datasets()
    types, errors = (
        {name: datasets.Value(kind) for name, kind in of.items()} for of in (FIELDS, ERROR_FIELDS)
    )
    info = datasets.DatasetInfo(
        description=description, features=datasets.Features({**types, "errors": [errors]})
    )
    columns = {name: [row[name] for row in rows] for name in (*FIELDS, "errors")}
    return datasets.Dataset.from_dict(columns, features=info.features, info=info)


def cnn_dailymail(
    pairs: int | None = 2000,
    *,
    seed: int = 0,
    split: str = "test",
    path: str = CNN_DAILYMAIL,
    edition: str | None = CNN_DAILYMAIL_EDITION,
) -> tuple[list[str], list[str], list[str]]:
    """A random selection of CNN/DailyMail, as the paper took 2,000 pairs (it does not say of which
    split).

    ``pairs``: how many, ``None`` for the whole split in its order; ``seed``: another one selects
    other pairs; ``path``: Hub name or folder of a data set with the columns ``article``,
    ``highlights`` and ``id``; ``edition``: its configuration. Returns articles, their highlights
    (the human summaries; a line for each sentence) and their ids. Raises ImportError without
    ``datasets``, OSError where it cannot be loaded, ValueError for a split, a column or pairs that
    it lacks.
    """
    datasets = _import_datasets()
    try:
        loaded = datasets.load_dataset(path, edition, split=split)
    except OSError as error:
        raise OSError(
            f"The data set {path!r} cannot be loaded: {error}. Connect to the Hugging Face Hub once, so that it is in "
            "the local cache, or give pairs of your own."
        ) from error
    for column in ("article", "highlights", "id"):
        check_choice("path", column, loaded.column_names)
    if pairs is not None:
        if not 0 <= pairs <= len(loaded):
            raise ValueError(
                f"Expected argument `pairs` to lie within 0..{len(loaded)}, but got {pairs}."
            )
        loaded = loaded.shuffle(seed=seed).select(range(pairs))
    return list(loaded["article"]), list(loaded["highlights"]), [str(name) for name in loaded["id"]]


def summeval_references(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """The documents of SummEval with the first reference of each, which is the summary of
    CNN/DailyMail (the other references were written by crowd workers), and their ``doc_id``.

    The folder has ``documents.jsonl`` and ``references.jsonl`` as `summeval.data.read_folder` takes
    them; a line that lacks a field and a document without a reference are refused (ValueError).
    """
    documents = read_field(folder / "documents.jsonl", "source")
    references = read_field(folder / "references.jsonl", "references")
    judged = (name for name, texts in references.items() if texts)
    check_all(documents, judged, f"a reference for each document in {str(folder)!r}")
    return list(documents.values()), [references[name][0] for name in documents], list(documents)


def _row(name: str, source: str, version: Corrupted, asked: int) -> Row:
    errors = []
    for one in version.errors:
        values = (
            *one.span,
            *one.clean_span,
            one.original,
            one.replacement,
            one.rank,
            one.probability,
            one.step,
        )
        errors.append(dict(zip(ERROR_FIELDS, values, strict=True)))
    return {
        "id": f"{name}-{asked}",
        "pair": name,
        "source": source,
        "summary": version.text,
        "label": 0 if version.errors else 1,
        "n_errors": len(version.errors),
        "n_missing": version.n_missing,
        "errors": errors,
    }


def _import_datasets() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise ImportError(
            "Data sets need `datasets`: pip install 'estime-metric[evaluate]'."
        ) from error
    return datasets
