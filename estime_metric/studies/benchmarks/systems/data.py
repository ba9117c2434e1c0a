"""Summaries of several systems with judgements of consistency: SummEval, FRANK, CLIFF."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from estime_metric.studies.benchmarks.frank import data as frank
from estime_metric.studies.benchmarks.shared.data import Tabled
from estime_metric.studies.benchmarks.shared.records import digest, read_records
from estime_metric.studies.benchmarks.summeval import data as summeval

#: The rule of the verdict is chosen on the documents of the first part, results are reported on the
#: documents of the second.
CHOOSING, REPORTING = "choosing", "reporting"
#: Data sets, in the order of tables.
SUMMEVAL, FRANK_CNNDM, FRANK_XSUM = "SummEval", "FRANK, CNN/DailyMail", "FRANK, XSum"
CLIFF_CNNDM, CLIFF_XSUM = "CLIFF, CNN/DailyMail", "CLIFF, XSum"
DATA_SETS = (SUMMEVAL, FRANK_CNNDM, FRANK_XSUM, CLIFF_CNNDM, CLIFF_XSUM)
#: Documents of SummEval for choosing: the first ones.
FIRST_DOCUMENTS = 50
#: Columns of `Systems.table`, before the columns of published metrics.
COLUMNS = ["data", "part", "document", "system", "source", "summary", "judgement"]


@dataclass(frozen=True, eq=False)
class Systems(Tabled):
    """Judged summaries of several data sets.

    Attributes:
        origin: where the data comes from.
        table: a row for each summary, with `COLUMNS`. ``data`` is one of `DATA_SETS`, in which each
            system has a summary of each document (otherwise ValueError); ``part`` is `CHOOSING` or
            `REPORTING`; ``document`` is the folder, a slash, and the document's name;
            ``judgement`` is higher for a more consistent summary. Further columns are scores of
            published metrics, higher is better, NaN if there is none.
    """

    columns = COLUMNS
    origin: str
    table: pd.DataFrame

    def __post_init__(self) -> None:
        for name, rows in self.table.groupby("data"):
            if rows["document"].nunique() * rows["system"].nunique() != len(rows):
                raise ValueError(
                    f"Expected {name} to have one summary of each document by each system, but it has "
                    f"{len(rows)} summaries of {rows['document'].nunique()} documents by "
                    f"{rows['system'].nunique()} systems."
                )

    @cached_property
    def digest(self) -> str:
        """Twelve digits that change with any text, name, judgement or score."""
        return digest(self.table.astype(object).where(self.table.notna(), None).to_numpy().tolist())


def read(folder: str | Path) -> Systems:
    """Reads the data sets that there are.

    Args:
        folder: has some of the folders ``summeval`` (read by `summeval.data.read_folder`), ``frank``
            (by `frank.data.read`) and ``cliff`` with ``cliff.jsonl`` (``doc_id``, ``dataset``,
            ``system``, ``split``, ``source``, ``summary``, ``label``).

    Raises:
        OSError: there is none of them, or a file is missing.
        ValueError: a record lacks a field, or a system lacks the summary of a document.
    """
    folder = Path(folder)
    readers = {"summeval": _read_summeval, "frank": _read_frank, "cliff": _read_cliff}
    tables = [
        read_data(folder / name).assign(
            document=lambda table, name=name: f"{name}/" + table["document"]
        )
        for name, read_data in readers.items()
        if (folder / name).is_dir()
    ]
    if not tables:
        raise FileNotFoundError(
            f"Expected {str(folder)!r} to have some of the folders {', '.join(readers)}, but it has none."
        )
    table = pd.concat(tables, ignore_index=True)
    published = [name for name in table.columns if name not in COLUMNS]
    return Systems(folder.name or str(folder), table[[*COLUMNS, *published]])


def _read_summeval(folder: Path) -> pd.DataFrame:
    data = summeval.read_folder(folder)
    table = pd.DataFrame(data.keys, columns=["document", "system"])
    chosen = table["document"].isin(data.documents[:FIRST_DOCUMENTS])
    return table.assign(
        data=SUMMEVAL,
        part=chosen.map({True: CHOOSING, False: REPORTING}),
        source=data.source_of_each,
        summary=data.summaries,
        judgement=data.judgements["consistency"].ravel(),
    )


def _read_frank(folder: Path) -> pd.DataFrame:
    names = {"cnndm": FRANK_CNNDM, "bbc": FRANK_XSUM}
    tables = []
    for split, part in zip(frank.SPLITS, (CHOOSING, REPORTING), strict=True):
        data = frank.read(folder, split)
        table = pd.DataFrame(data.keys, columns=["document", "system"])
        tables.append(
            table.assign(
                data=[names[name] for name in data.datasets],
                part=part,
                source=data.source_of_each,
                summary=data.summaries,
                judgement=data.factuality,
                **data.published,
            )
        )
    return pd.concat(tables)


def _read_cliff(folder: Path) -> pd.DataFrame:
    fields = ["doc_id", "dataset", "system", "split", "source", "summary", "label"]
    table = pd.DataFrame(read_records(folder / "cliff.jsonl", fields))[fields]
    names = {"cnndm": CLIFF_CNNDM, "xsum": CLIFF_XSUM}
    return table.assign(
        data=table["dataset"].map(names),
        part=table["split"].map({"val": CHOOSING, "test": REPORTING}),
        document=table["doc_id"].astype(str),
        judgement=table["label"].astype(float),
    )[COLUMNS]
