"""Each summary clean and with subtle errors as a benchmark, and the texts it is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.records import join, read_frame
from estime_metric.studies.benchmarks.subtle_errors.generator import Corrupted, SubtleErrors
from estime_metric.studies.benchmarks.subtle_errors.labeled import import_datasets
from estime_metric.validation import check_choice, check_pairs

#: The paper's texts (section 4) on the Hub, and the edition of the dataset in which names are not
#: replaced by numbers.
CNN_DAILYMAIL, CNN_DAILYMAIL_EDITION = "abisee/cnn_dailymail", "3.0.0"
#: Numbers of errors: the paper's 3, fewer and more.
NUMBERS = (1, 3, 5)


@dataclass(frozen=True, eq=False, kw_only=True)
class Versions(Summaries):
    """Every summary clean and with each number of errors, as a benchmark: pairs for documents,
    numbers for systems, pair by pair, the clean one first.

    ``corrupted`` are the pairs' summaries with all errors, ``numbers`` ascend, ``generator`` is the
    errors' signature, ``versions`` are the summaries of the table with their errors.
    """

    corrupted: list[Corrupted]
    numbers: tuple[int, ...]
    generator: str
    versions: list[Corrupted]

    def complete(self, number: int) -> list[int]:
        """Indices of the pairs with the given number of errors in the summary."""
        return [
            index
            for index, corrupted in enumerate(self.corrupted)
            if len(corrupted.errors) >= number
        ]


def make_versions(
    sources: Sequence[str],
    summaries: Sequence[str],
    corrupt: SubtleErrors,
    *,
    numbers: Sequence[int] = NUMBERS,
    names: Sequence[str] | None = None,
    progress: bool = False,
) -> Versions:
    """Inserts errors into summaries, which are assumed to be free of errors.

    ``numbers`` ascend to the number that ``corrupt`` makes; ``names`` are the names of the pairs
    (default: their indices).

    Raises:
        TypeError, ValueError: an invalid argument; the message names it.
        EncoderUnavailableError: the generator's model cannot be loaded.
    """
    originals, texts = check_pairs(summaries, sources, "summaries")
    ascending = tuple(numbers)
    if (
        not ascending
        or list(ascending) != sorted(set(ascending))
        or ascending[0] < 1
        or ascending[-1] != corrupt.n_errors
    ):
        raise ValueError(
            f"Expected argument `numbers` to ascend from at least 1 to the {corrupt.n_errors} errors that are made, "
            f"but got {ascending}."
        )
    corrupted = corrupt(originals, progress=progress)
    rows = [
        (str(name), str(number), source, text.first(number))
        for name, source, text in zip(names or range(len(texts)), texts, corrupted, strict=True)
        for number in (0, *ascending)
    ]
    versions = [version for *_, version in rows]
    table = pd.DataFrame([names for *names, _ in rows], columns=["document", "system", "source"])
    return Versions(
        origin="the pairs",
        table=table.assign(summary=[version.text for version in versions]),
        key_names=("pair", "n_errors"),
        corrupted=corrupted,
        numbers=ascending,
        generator=corrupt.signature,
        versions=versions,
    )


@dataclass(frozen=True)
class CleanPairs:
    """Pairs with summaries that are assumed to be free of errors: sources, summaries, and their
    names."""

    sources: list[str]
    summaries: list[str]
    ids: list[str]


def cnn_dailymail(
    pairs: int | None = 2000,
    *,
    seed: int = 0,
    split: str = "test",
    path: str = CNN_DAILYMAIL,
    edition: str | None = CNN_DAILYMAIL_EDITION,
) -> CleanPairs:
    """A random selection of CNN/DailyMail, as in the paper, which uses 2,000 pairs (it does not say
    of which split): articles, their highlights (the human summaries; a line for each sentence) and
    their ids.

    Args:
        pairs: how many; ``None`` for the whole split in its order.
        seed: another one selects other pairs.
        split, path, edition: split, Hub name or folder, and configuration of a dataset with the
            columns ``article``, ``highlights`` and ``id``.

    Raises:
        ImportError: ``datasets`` is not installed.
        OSError: the dataset cannot be loaded.
        ValueError: a split, a column or pairs that it lacks.
    """
    datasets = import_datasets()
    try:
        loaded = datasets.load_dataset(path, edition, split=split)
    except OSError as error:
        raise OSError(
            f"The dataset {path!r} cannot be loaded: {error}. Connect to the Hugging Face Hub once, so that it is in "
            "the local cache, or pass your own pairs."
        ) from error
    for column in ("article", "highlights", "id"):
        check_choice("path", column, loaded.column_names)
    if pairs is not None:
        if not 0 <= pairs <= len(loaded):
            raise ValueError(
                f"Expected argument `pairs` to be within 0..{len(loaded)}, but got {pairs}."
            )
        loaded = loaded.shuffle(seed=seed).select(range(pairs))
    return CleanPairs(
        sources=list(loaded["article"]),
        summaries=list(loaded["highlights"]),
        ids=[str(name) for name in loaded["id"]],
    )


def summeval_references(folder: Path) -> CleanPairs:
    """The documents of SummEval with the first reference of each, which is the summary of
    CNN/DailyMail (the other references were written by crowd workers), and their ``doc_id``.

    The folder has ``documents.jsonl`` and ``references.jsonl``, as `summeval.data.read_folder`
    reads them; ValueError for a line that lacks a field and a document without a reference.
    """
    documents = read_frame(folder / "documents.jsonl", ("doc_id", "source"), doc_id="document")
    references = read_frame(
        folder / "references.jsonl", ("doc_id", "references"), doc_id="document"
    )
    what = f"a reference for each document in {str(folder)!r}"
    pairs = join(documents, references[references["references"].map(bool)], ["document"], what)
    return CleanPairs(
        sources=list(pairs["source"]),
        summaries=[texts[0] for texts in pairs["references"]],
        ids=list(pairs["document"]),
    )
