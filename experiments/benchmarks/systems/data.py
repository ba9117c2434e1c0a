"""Summaries of several systems with judgements of consistency: SummEval, FRANK, RAGTruth."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import KEY, Summaries
from estime_metric.studies.benchmarks.shared.records import crossed
from estime_metric.studies.benchmarks.summeval import data as summeval
from experiments.benchmarks.frank import data as frank
from experiments.benchmarks.ragtruth import data as ragtruth

#: Measures were chosen on the documents of the first part; the others are for reports.
CHOOSING, REPORTING = "choosing", "reporting"
#: Datasets, in the order of tables.
SUMMEVAL, FRANK_CNNDM, FRANK_XSUM = "SummEval", "FRANK, CNN/DailyMail", "FRANK, XSum"
RAGTRUTH = "RAGTruth"
DATA_SETS = (SUMMEVAL, FRANK_CNNDM, FRANK_XSUM, RAGTRUTH)
#: Documents of SummEval for choosing: the first ones.
FIRST_DOCUMENTS = 50
#: Columns of the table, before the scores of published metrics.
COLUMNS = ["data", "part", *KEY, "source", "summary", "judgement"]


def read(folder: str | Path) -> Summaries:
    """Reads the datasets that there are.

    The ``document`` of a key is the folder, a slash, and the document's name. Further columns are
    ``data``, one of `DATA_SETS`, ``part``, `CHOOSING` or `REPORTING`, and ``judgement``, higher for a
    more consistent summary.

    Args:
        folder: has some of the folders ``summeval`` (read by `summeval.data.read_folder`), ``frank``
            (by `frank.data.read`) and ``ragtruth`` (by `ragtruth.data.read`).

    Raises:
        OSError: there is none of them, or a file is missing.
        ValueError: a record lacks a field, or a system lacks the summary of a document.
    """
    folder = Path(folder)
    readers = {"summeval": _read_summeval, "frank": _read_frank, "ragtruth": _read_ragtruth}
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
    for name, rows in table.groupby("data"):
        crossed(rows, str(name))
    published = table.drop(columns=COLUMNS)
    return Summaries(origin=folder.name or str(folder), table=table[COLUMNS], published=published)


def _read_summeval(folder: Path) -> pd.DataFrame:
    data = summeval.read_folder(folder)
    chosen = data.table["document"].isin(data.documents[:FIRST_DOCUMENTS])
    parts = chosen.map({True: CHOOSING, False: REPORTING})
    judged = data.table["consistency"]
    return data.table.assign(data=SUMMEVAL, part=parts, judgement=judged)[COLUMNS]


def _read_frank(folder: Path) -> pd.DataFrame:
    names = {"cnndm": FRANK_CNNDM, "bbc": FRANK_XSUM}
    tables = []
    for split, part in zip(frank.SPLITS, (CHOOSING, REPORTING), strict=True):
        data = frank.read(folder, split)
        named = data.table.assign(
            data=data.table["dataset"].map(names), part=part, judgement=data.table["factuality"]
        )
        tables.append(named[COLUMNS].join(data.published))
    return pd.concat(tables)


def _read_ragtruth(folder: Path) -> pd.DataFrame:
    table = ragtruth.read(folder).table
    judged = table["label"].astype(float)
    return table.assign(data=RAGTRUTH, part=REPORTING, judgement=judged)[COLUMNS]
