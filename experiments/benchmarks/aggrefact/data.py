"""AggreFact (Tang et al. 2023): summaries of nine datasets, labeled consistent or not, by the
class of their system.

Two layouts are read: the authors' repository (github.com/Liyan06/AggreFact), and a folder with
CLIFF (Cao & Wang 2021) and FRANK (Pagnoni et al. 2021) as JSON Lines.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from estime_metric.checks import check_choice
from estime_metric.studies.benchmarks.shared.data import KEY, Summaries
from estime_metric.studies.benchmarks.shared.records import read_frame
from estime_metric.studies.meta.grid import listed
from experiments.benchmarks.frank import data as frank
from experiments.benchmarks.reading import check_labels

#: Splits of every dataset: thresholds are chosen on the first, results are reported on the second.
SPLITS = ("val", "test")
ORIGINS = {"cnndm": "CNN/DailyMail", "xsum": "XSum"}
#: Class -> its systems, as the authors' ``utils.py`` and the JSON Lines call them. Others, such as
#: references and LEAD-3, belong to no class and are excluded.
CLASSES = {
    "recent": ("BART", "PegasusDynamic", "T5", "Pegasus", "bart", "pegasus"),
    "transformers": ("BertSum", "BertExtAbs", "BertExt", "GPT2", "BERTS2S", "TranS2S", "bert_sum"),
    "older": (
        "FastAbsRl",
        "TConvS2S",
        "PtGen",
        "PtGenCoverage",
        "Summa",
        "BottomUp",
        "Seq2Seq",
        "TextRank",
        "missing",
        "ImproveAbs",
        "NEUSUM",
        "ClosedBookDecoder",
        "RNES",
        "BanditSum",
        "ROUGESal",
        "MultiTask",
        "UnifiedExtAbs",
        "pgn",
        "bus",
        "s2s",
    ),
}
_CLASS_OF = {system: name for name, systems in CLASSES.items() for system in systems}
#: The authors' files, in the folder ``data``; the second contains only the class ``recent``.
TABLES, SPANS = (
    ("aggre_fact_final.csv", "aggre_fact_sota.csv"),
    Path("error_type_mapping", "CLIFF_error_types.csv"),
)
#: What ends the name of a detector's column.
SCORE = "_score"
_READ = [*KEY, "dataset", "origin", "split", "source", "summary", "label", "spans"]
_RENAMED = {
    "id": "document",
    "doc": "source",
    "summ": "summary",
    "model_name": "system",
    "cut": "split",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class AggreFact(Summaries):
    """Labeled summaries, at least one; a label that is neither 0 nor 1 raises ValueError.

    The ``document`` of a key is the dataset, a slash, its name. Further columns of the table are the
    ``dataset``, its ``origin`` (one of `ORIGINS`), the ``group`` of the system (one of `CLASSES`),
    the ``split``, the ``label``, 1 for a consistent summary, otherwise 0, and ``spans``, the list of
    texts that annotators marked, in CLIFF, otherwise ``None``. ``left_out``: how many summaries of
    the file are of no class or no split.
    """

    left_out: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.table):
            raise ValueError(
                f"Expected {self.origin!r} to have labeled summaries, but there are none."
            )
        check_labels(self.table, self.origin)

    def cells(self) -> dict[Place, pd.DataFrame]:
        """The rows of the authors' table 8, in its order: CLIFF and FRANK before other datasets; place
        -> its rows of the table.
        """
        groups = self.table.groupby(["origin", "dataset", "group"], sort=False)
        cells = {Place(*place): table for place, table in groups}
        return {place: cells[place] for place in sorted(cells, key=lambda place: place.order)}


class Place(NamedTuple):
    """A row of the authors' table 8: origin of the articles, dataset and class of systems."""

    origin: str
    dataset: str
    group: str

    @property
    def name(self) -> str:
        """The place as readers know it: ``CLIFF, CNN/DailyMail, recent``."""
        return f"{self.dataset}, {ORIGINS[self.origin]}, {self.group}"

    @property
    def order(self) -> tuple[int, int, bool, str]:
        """Sorts places as the authors' table does."""
        others = self.dataset not in ("CLIFF", "FRANK")
        return (
            list(ORIGINS).index(self.origin),
            list(CLASSES).index(self.group),
            others,
            self.dataset,
        )


#: The columns of a `Place`.
PLACE = list(Place._fields)


def read(folder: str | Path) -> AggreFact:
    """Reads a folder of either layout.

    It is the authors' repository, or its folder ``data`` (``aggre_fact_final.csv`` or
    ``aggre_fact_sota.csv``, with ``error_type_mapping/CLIFF_error_types.csv`` for the marked words;
    this alone for CLIFF alone). Or it has ``cliff/cliff.jsonl`` (``doc_id``, ``dataset``,
    ``system``, ``split``, ``source``, ``summary``, ``label``, ``spans``), ``frank`` in the layout
    of `frank.data.read`, or both. From FRANK, only the summaries of CNN/DailyMail are used, because
    AggreFact has the summaries of XSum under XSumFaith; summaries without an error in any sentence
    are consistent. Raises OSError if a file is missing, ValueError for a table that lacks a column
    and a label that is neither 0 nor 1.
    """
    folder = Path(folder)
    for place in (folder, folder / "data"):
        if any((place / name).is_file() for name in (*TABLES, SPANS)):
            return _aggrefact(folder, _read_authors(place))
    parts = [_read_cliff(folder / "cliff" / "cliff.jsonl")] if (folder / "cliff").is_dir() else []
    parts += [_read_frank(folder / "frank")] if (folder / "frank").is_dir() else []
    if not parts:
        raise FileNotFoundError(
            f"Expected {str(folder)!r} to have {TABLES[0]}, or the folders cliff and frank, but it has neither."
        )
    return _aggrefact(folder, pd.concat(parts, ignore_index=True))


def of_split(data: AggreFact, split: str) -> AggreFact:
    """One split; ValueError if ``split`` is not one of `SPLITS`, or has no summaries."""
    check_choice("split", split, SPLITS)
    kept = data.table[data.table["split"] == split].reset_index(drop=True)
    return AggreFact(origin=f"{data.origin} ({split})", table=kept)


def with_spans(data: AggreFact) -> AggreFact:
    """The summaries with judged words, which are those of CLIFF; ValueError if there are none."""
    kept = data.table[data.table["spans"].notna()].reset_index(drop=True)
    return AggreFact(origin=f"{data.origin} (CLIFF)", table=kept)


def _aggrefact(folder: Path, table: pd.DataFrame) -> AggreFact:
    """The summaries in order, with classes, and a number behind documents that one system summarized
    several times.
    """
    kept = (
        table["system"].isin(_CLASS_OF)
        & table["split"].isin(SPLITS)
        & table["origin"].isin(ORIGINS)
    )
    summaries = table[kept].reset_index(drop=True)
    summaries["group"] = summaries["system"].map(_CLASS_OF)
    summaries["document"] = summaries["dataset"] + "/" + summaries["document"].astype(str)
    again = summaries.groupby(KEY).cumcount()
    summaries["document"] += [f"#{number + 1}" if number else "" for number in again]
    columns = [*_READ, "group"]
    return AggreFact(
        origin=folder.name or str(folder),
        table=summaries[columns],
        published=summaries.drop(columns=columns),
        left_out=int((~kept).sum()),
    )


def _read_authors(folder: Path) -> pd.DataFrame:
    marked = _read_marked(folder / SPANS) if (folder / SPANS).is_file() else None
    path = next((folder / name for name in TABLES if (folder / name).is_file()), None)
    if path is None:
        assert marked is not None
        return marked
    texts = {"id": str, "doc": str, "summary": str}
    table = _read_csv(path, (*texts, "dataset", "origin", "model_name", "label", "cut"), texts)
    spans = {} if marked is None else dict(zip(_identity(marked), marked["spans"], strict=True))
    cliff = table["dataset"] == "CLIFF"
    table["spans"] = [
        spans.get(key) if is_cliff else None
        for key, is_cliff in zip(_identity(table), cliff, strict=True)
    ]
    scores = table.filter(regex=f"{SCORE}$").apply(pd.to_numeric)
    return table[_READ].join(scores.rename(columns=lambda name: name.removesuffix(SCORE)))


def _read_marked(path: Path) -> pd.DataFrame:
    """CLIFF with the words that annotators marked, from the authors' list of its errors."""
    fields = ("dataset", "origin", *_RENAMED, "error_type", "annotated_span")
    table = _read_csv(path, fields, str)
    table["label"] = (table["error_type"] == "correct").astype(int)
    table["spans"] = [ast.literal_eval(cell) if cell else [] for cell in table["annotated_span"]]
    return table[_READ]


def _read_csv(path: Path, names: Sequence[str], dtype: Any) -> pd.DataFrame:
    """A table of the authors, with the column names of this package."""
    table = pd.read_csv(path, keep_default_na=False, dtype=dtype)
    if missing := [name for name in names if name not in table.columns]:
        raise ValueError(
            f"Expected {path.name} to have the column {missing[0]!r}, but its columns are {listed(table.columns)}."
        )
    return table.rename(columns=_RENAMED)


def _identity(table: pd.DataFrame) -> list[tuple[str, ...]]:
    return list(zip(table["origin"], table["document"], table["system"], strict=True))


def _read_cliff(path: Path) -> pd.DataFrame:
    fields = ("doc_id", "dataset", "system", "split", "source", "summary", "label", "spans")
    table = read_frame(path, fields, dataset="origin", doc_id="document")
    return table.assign(dataset="CLIFF")[_READ]


def _read_frank(folder: Path) -> pd.DataFrame:
    parts = []
    for split, name in zip(SPLITS, frank.SPLITS, strict=True):
        table = frank.read(folder, name).table
        cnndm = table[table["dataset"] == "cnndm"]
        labels = (cnndm["factuality"] == 1).astype(int)
        parts.append(
            cnndm.assign(dataset="FRANK", origin="cnndm", split=split, label=labels, spans=None)[
                _READ
            ]
        )
    return pd.concat(parts)
