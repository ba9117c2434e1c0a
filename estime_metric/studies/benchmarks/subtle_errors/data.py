"""Each summary clean and with subtle errors as a benchmark, and the texts it is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from estime_metric.studies.benchmarks.shared.data import Crossed
from estime_metric.studies.benchmarks.shared.records import check_all, digest, read_field
from estime_metric.studies.benchmarks.subtle_errors.generator import Corrupted, SubtleErrors
from estime_metric.studies.benchmarks.subtle_errors.labeled import import_datasets
from estime_metric.validation import check_choice, check_pairs

#: The paper's texts (section 4) on the Hub, and the edition of the dataset in which names are not
#: replaced by numbers.
CNN_DAILYMAIL, CNN_DAILYMAIL_EDITION = "abisee/cnn_dailymail", "3.0.0"
#: Numbers of errors: the paper's 3, fewer and more.
NUMBERS = (1, 3, 5)


@dataclass(frozen=True, eq=False)
class Versions(Crossed):
    """Every summary clean and with each number of errors, as a benchmark: pairs for documents,
    numbers for systems.

    ``corrupted`` are the pairs' summaries with all errors, ``numbers`` ascend, ``generator`` is the
    errors' signature; ``versions`` and their texts, the ``summaries``, are listed pair by pair, the
    clean one first.
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
    documents = tuple(map(str, names if names is not None else range(len(texts))))
    corrupted, all_numbers = corrupt(originals, progress=progress), (0, *ascending)
    versions = [text.first(number) for text in corrupted for number in all_numbers]
    summaries = tuple(version.text for version in versions)
    return Versions(
        documents=documents,
        systems=tuple(map(str, all_numbers)),
        sources=texts,
        corrupted=corrupted,
        numbers=ascending,
        generator=corrupt.signature,
        versions=versions,
        summaries=summaries,
        source_of_each=[source for source in texts for _ in all_numbers],
        digest=digest(documents, texts, summaries, corrupt.signature),
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
    documents = read_field(folder / "documents.jsonl", "source")
    references = read_field(folder / "references.jsonl", "references")
    judged = (name for name, texts in references.items() if texts)
    check_all(documents, judged, f"a reference for each document in {str(folder)!r}")
    return CleanPairs(
        sources=list(documents.values()),
        summaries=[references[name][0] for name in documents],
        ids=list(documents),
    )
