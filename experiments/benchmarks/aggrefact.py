"""AggreFact (Tang et al. 2023): summaries of several datasets, labelled consistent or not, by the class
of their system.
"""

import io
from pathlib import Path

import pandas as pd

from experiments.benchmarks import frank
from experiments.benchmarks.common import PUBLISHED, RUN, Run, find_file, records, show
from experiments.benchmarks.detection import MEAN, detect, with_ends
from experiments.benchmarks.statistics import choose_threshold

#: Thresholds are chosen on the first split, results are reported on the second.
SPLITS = ("val", "test")
ORIGINS = {"cnndm": "CNN/DailyMail", "xsum": "XSum"}
#: Class -> its systems, as the authors' ``utils.py`` and the JSON Lines call them. Others, such as
#: references and LEAD-3, belong to no class and are excluded.
CLASSES = {
    "recent": "BART PegasusDynamic T5 Pegasus bart pegasus",
    "transformers": "BertSum BertExtAbs BertExt GPT2 BERTS2S TranS2S bert_sum",
    "older": "FastAbsRl TConvS2S PtGen PtGenCoverage Summa BottomUp Seq2Seq TextRank missing "
    "ImproveAbs NEUSUM ClosedBookDecoder RNES BanditSum ROUGESal MultiTask UnifiedExtAbs pgn bus s2s",
}
_CLASS_OF = {system: name for name, systems in CLASSES.items() for system in systems.split()}

#: Balanced accuracies of five detectors as published, none computed by this package: table 8, with a
#: threshold for each row, on the split ``test``; three digits from the authors' ``final_result.ipynb``.
_TABLE_8 = """
origin dataset   group          DAE QuestEval SummaC-ZS SummaC-Conv QAFactEval
cnndm  CLIFF     recent       0.730     0.740     0.646       0.649      0.716
xsum   CLIFF     recent       0.754     0.619     0.596       0.666      0.626
cnndm  FRANK     recent       0.699     0.626     0.570       0.601      0.547
cnndm  FRANK     transformers 0.574     0.556     0.631       0.634      0.646
cnndm  FRANK     older        0.704     0.670     0.692       0.727      0.773
cnndm  FactCC    older        0.704     0.655     0.835       0.891      0.843
cnndm  Goyal21   older        0.188     0.146     0.375       0.354      0.271
cnndm  Polytope  older        0.779     0.687     0.802       0.791      0.824
cnndm  Polytope  recent       0.294     0.176     0.971       0.735      0.324
cnndm  Polytope  transformers 0.774     0.733     0.970       0.811      0.726
cnndm  SummEval  older        0.661     0.649     0.773       0.801      0.814
cnndm  SummEval  recent       0.452     0.649     0.622       0.827      0.652
cnndm  SummEval  transformers 0.760     0.680     0.620       0.580      0.740
cnndm  Wang20    older        0.586     0.552     0.655       0.672      0.754
xsum   Cao22     recent       0.723     0.601     0.490       0.668      0.613
xsum   Goyal21   recent       0.644     0.814     0.466       0.552      0.754
xsum   Wang20    recent       0.756     0.560     0.698       0.721      0.756
xsum   XSumFaith older        0.834     0.597     0.533       0.675      0.605
xsum   XSumFaith transformers 0.855     0.601     0.514       0.646      0.596
"""


def read(folder: Path) -> pd.DataFrame:
    """The labelled summaries of systems that have a class. Further columns are the ``dataset``, its
    ``origin`` (one of `ORIGINS`), the ``group`` of the system (one of `CLASSES`), the ``split``, the
    ``label``, 1 for a consistent summary, otherwise 0, and the ``part``, a row of the authors' table 8.
    The ``document`` is the dataset, a slash, its name.

    Args:
        folder: a copy of the authors' repository, or a folder with ``cliff/cliff.jsonl`` (``doc_id``,
            ``dataset``, ``system``, ``split``, ``source``, ``summary``, ``label``), the
            folder ``frank`` that `frank.read` reads, or both. Of FRANK, only CNN/DailyMail is used,
            because AggreFact has its summaries of XSum under XSumFaith; a summary without an error in
            any sentence is consistent.
    """
    path = find_file(folder, "aggre_fact_final.csv", "aggre_fact_sota.csv")
    if path is not None:
        table = _read_authors(path)
    else:
        readers = {"cliff": _read_cliff, "frank": _read_frank}
        parts = [read(folder / name) for name, read in readers.items() if (folder / name).is_dir()]
        if not parts:
            raise FileNotFoundError(f"Expected {str(folder)!r} to have the folder cliff or frank.")
        table = pd.concat(parts, ignore_index=True)
    table["group"] = table["system"].map(_CLASS_OF)
    is_known = table["split"].isin(SPLITS) & table["origin"].isin(ORIGINS)
    table = table[is_known & table["group"].notna()].reset_index(drop=True)
    table["document"] = table["dataset"] + "/" + table["document"].astype(str)
    again = table.groupby(["document", "system"]).cumcount()  # summarized several times
    table["document"] += [f"#{number + 1}" if number else "" for number in again]
    names = [table[name] for name in ("dataset", "origin", "group")]
    table["part"] = [_part(*place) for place in zip(*names, strict=True)]
    return table


def _part(dataset: str, origin: str, group: str) -> str:
    return f"{dataset}, {ORIGINS[origin]}, {group}"


def _read_cliff(folder: Path) -> pd.DataFrame:
    table = records(folder / "cliff.jsonl").astype({"doc_id": str, "system": str})
    table = table.rename(columns={"doc_id": "document", "dataset": "origin"})
    return table.assign(dataset="CLIFF").drop(columns=["errors", "spans"], errors="ignore")


def _read_frank(folder: Path) -> pd.DataFrame:
    parts = []
    for split, name in zip(SPLITS, frank.SPLITS, strict=True):
        table = frank.read(folder, name)
        table = table[table["dataset"] == "cnndm"][
            ["document", "system", "source", "summary", "factuality"]
        ]
        label = (table.pop("factuality") == 1).astype(int)
        parts.append(table.assign(dataset="FRANK", origin="cnndm", split=split, label=label))
    return pd.concat(parts)


def _read_authors(path: Path) -> pd.DataFrame:
    """The authors' table."""
    texts = {"id": str, "doc": str, "summary": str}
    table = pd.read_csv(path, keep_default_na=False, dtype=texts)
    scores = [name for name in table if name.endswith("_score")]
    named = {name: PUBLISHED + name.removesuffix("_score") for name in scores}
    columns = {"id": "document", "doc": "source", "model_name": "system", "cut": "split"}
    kept = [*columns, "dataset", "origin", "summary", "label", *scores]
    return table[kept].rename(columns={**columns, **named})


def analyze(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """`detect` by part, with the threshold that is best on its ``val``, on its ``test``; and below it
    the printed accuracies of detectors without scores in the data.
    """
    parts = {name: rows.index for name, rows in table.groupby("part", sort=False)}
    printed = pd.read_csv(io.StringIO(_TABLE_8), sep=r"\s+")
    printed["part"] = [
        _part(*place) for place in printed[["dataset", "origin", "group"]].itertuples(index=False)
    ]
    printed = printed.drop(columns=["origin", "dataset", "group"]).set_index("part")
    printed = printed[printed.index.isin(parts)]
    printed = printed.drop(columns=[name for name in printed if PUBLISHED + name in table])
    order = [*printed.index, *(name for name in parts if name not in printed.index)]
    computed = detect(
        table, scores, {name: parts[name] for name in order}, classify, "document", run
    )
    if len(printed) > 1:
        printed.loc[MEAN] = printed.mean()
    rows = printed.add_suffix(", printed").reset_index()
    rows = rows.melt("part", var_name="measure", value_name="accuracy")
    return pd.concat([rows, computed], ignore_index=True)


def classify(summaries: pd.DataFrame) -> pd.DataFrame:
    """The split ``test`` of a part, classified by the threshold of ``val``; none if there is no ``val``."""
    val, test = (summaries[summaries["split"] == split] for split in SPLITS)
    if not len(val):
        return val
    threshold = choose_threshold(val["label"].to_numpy(), val["score"].to_numpy())
    return test.assign(predicted=test["score"] > threshold)


def aggrefact(folder: Path, /, *, run: Run = RUN) -> None:
    """Detect inconsistent summaries: AggreFact, Tang et al. 2023.

    For each dataset and system class, chooses a threshold on val and prints the balanced accuracy on
    test, next to five published detectors. Writes aggrefact.csv, with areas under the ROC curve too.
    Files of --scores name documents DATASET/ID.

    Args:
        folder: A copy of the authors' repository, Liyan06/AggreFact, or a folder with the folders frank
            (of the benchmark frank) and cliff, with cliff.jsonl (doc_id, dataset: cnndm or xsum, system,
            split, source, summary, label: 1 for a consistent summary, otherwise 0).
    """
    table = read(folder)
    frame = analyze(table, run.score(table), run)
    show("AggreFact: balanced accuracy on test", with_ends(frame, "accuracy"))
    show("AggreFact: area under the ROC curve on test", with_ends(frame, "area"))
    run.save(aggrefact=frame)
