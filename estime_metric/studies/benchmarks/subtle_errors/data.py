"""Each summary clean and with subtle errors as a benchmark, and the texts it is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.records import join, load_dataset, read_frame
from estime_metric.studies.benchmarks.subtle_errors.generator import Corrupted, SubtleErrors
from estime_metric.studies.keyed import listed

#: The paper's texts (section 4) on the Hub, and the edition of the dataset in which names are not
#: replaced by numbers.
CNN_DAILYMAIL, CNN_DAILYMAIL_EDITION = "abisee/cnn_dailymail", "3.0.0"


@dataclass(frozen=True, eq=False, kw_only=True)
class Versions(Summaries):
    """Every summary clean and with each number of errors, as a benchmark: pairs for documents,
    numbers for systems, pair by pair, the clean one first.

    ``corrupted`` are the pairs' summaries with all errors, ``numbers`` ascend, ``generator`` is the
    errors' signature.
    """

    corrupted: list[Corrupted]
    numbers: tuple[int, ...]
    generator: str

    def complete(self, number: int) -> list[int]:
        """Indices of the pairs with the given number of errors in the summary."""
        return [
            index
            for index, corrupted in enumerate(self.corrupted)
            if len(corrupted.errors) >= number
        ]


def make_versions(
    pairs: pd.DataFrame,
    corrupt: SubtleErrors,
    *,
    numbers: Sequence[int],
    progress: bool = False,
) -> Versions:
    """Inserts errors into summaries, which are assumed to be free of errors.

    ``pairs`` have the columns ``document``, which names a pair, ``source`` and ``summary``;
    ``numbers`` ascend to the number that ``corrupt`` makes.

    Raises:
        ValueError: two pairs have the same name.
        EncoderUnavailableError: the generator's model cannot be loaded.
    """
    names = pairs["document"]
    if len(twice := names[names.duplicated()].unique()):
        raise ValueError(
            f"Expected each pair to have another id, but {listed(twice)} occurs twice."
        )
    corrupted = corrupt(list(pairs["summary"]), progress=progress)
    rows = [
        (document, str(number), source, text.first(number).text)
        for document, source, text in zip(
            pairs["document"], pairs["source"], corrupted, strict=True
        )
        for number in (0, *numbers)
    ]
    return Versions(
        origin="the pairs",
        table=pd.DataFrame(rows, columns=["document", "system", "source", "summary"]),
        key_names=("pair", "n_errors"),
        corrupted=corrupted,
        numbers=tuple(numbers),
        generator=corrupt.signature,
    )


def cnn_dailymail(pairs: int, *, seed: int = 0, path: str = CNN_DAILYMAIL) -> pd.DataFrame:
    """A random selection of CNN/DailyMail, as in the paper, which uses 2,000 pairs (it does not say
    of which split; this is the test split): articles as ``source``, their highlights (the human
    summaries; a line for each sentence) as ``summary``, and their ids as ``document``.

    Args:
        pairs: how many, if the dataset has as many.
        seed: another one selects other pairs.
        path: Hub name or folder of the dataset.

    Raises:
        ImportError: ``datasets`` is not installed.
        OSError: the dataset cannot be loaded.
    """
    loaded = load_dataset(
        path, CNN_DAILYMAIL_EDITION, split="test", revision=None, advice="pass your own pairs"
    )
    drawn = loaded.shuffle(seed=seed).select(range(min(pairs, len(loaded))))
    names = {"id": "document", "article": "source", "highlights": "summary"}
    return pd.DataFrame({name: list(drawn[column]) for column, name in names.items()})


def summeval_references(folder: Path) -> pd.DataFrame:
    """The documents of SummEval with the first reference of each, which is the summary of
    CNN/DailyMail (the other references were written by crowd workers): ``document``, ``source`` and
    ``summary``.

    The folder has ``documents.jsonl`` and ``references.jsonl``, as `summeval.data.read_folder`
    reads them; ValueError for a line that lacks a field and a document without a reference.
    """
    documents = read_frame(folder / "documents.jsonl", ("doc_id", "source"), doc_id="document")
    references = read_frame(
        folder / "references.jsonl", ("doc_id", "references"), doc_id="document"
    )
    what = f"a reference for each document in {str(folder)!r}"
    pairs = join(documents, references[references["references"].map(bool)], ["document"], what)
    return pairs.assign(summary=pairs["references"].str[0])[["document", "source", "summary"]]
