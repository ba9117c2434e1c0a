"""Made-up data of both layouts: the authors' tables, and folders of JSON Lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from estime_metric.studies.benchmarks.aggrefact.data import Place
from estime_metric.studies.benchmarks.aggrefact.published import TABLE_8
from tests.command import write_jsonl
from tests.families import SENTENCES

#: The place that the made-up data have.
PLACE = Place("cnndm", "CLIFF", "recent")
#: Consistent and other summaries of the test split of CLIFF, CNN/DailyMail.
COUNTS = {1: 127, 0: 23}


def scores_of(accuracy: float) -> list[float]:
    """Scores of the test half that reach a balanced accuracy of three digits at a threshold of a
    half.
    """
    right = next(
        (one, other)
        for one in range(COUNTS[1] + 1)
        for other in range(COUNTS[0] + 1)
        if round((one / COUNTS[1] + other / COUNTS[0]) / 2, 3) == accuracy
    )
    consistent = [1.0] * right[0] + [0.0] * (COUNTS[1] - right[0])
    return consistent + [0.0] * right[1] + [1.0] * (COUNTS[0] - right[1])


def write_authors(folder: Path) -> Path:
    """The repository, with CLIFF's cell of CNN/DailyMail alone, a reference, and detectors as good
    as is printed.
    """
    rows = []
    for cut, counts in (("val", {1: 6, 0: 6}), ("test", COUNTS)):
        labels = [label for label, count in counts.items() for _ in range(count)]
        scores = {
            name: [float(label) for label in labels] if cut == "val" else scores_of(printed)
            for name, printed in TABLE_8[PLACE].accuracies.items()
        }
        for index, label in enumerate(labels):
            source = SENTENCES[index % 5]
            names = {
                "dataset": "CLIFF",
                "origin": "cnndm",
                "id": f"{cut}{index // 2:03}",
                "doc": source,
            }
            names |= {"summary": source if label else " ".join(reversed(source.split()))}
            names |= {"model_name": ("BART", "Pegasus")[index % 2], "label": label, "cut": cut}
            given = {f"{name}_score": values[index] for name, values in scores.items()}
            rows.append({**names, **given, **{f"{name}_label": "" for name in scores}})
    rows.append({**rows[-1], "model_name": "GOLD"})
    table = pd.DataFrame(rows)
    (folder / "data" / "error_type_mapping").mkdir(parents=True)
    table.to_csv(folder / "data" / "aggre_fact_final.csv", index=False)
    marked = table[table["model_name"] != "GOLD"].rename(columns={"summary": "summ"})
    marked["error_type"] = np.where(marked["label"] == 1, "correct", "['extrinsic-NP']")
    marked["annotated_span"] = [
        "" if label else str(text.split()[:2])
        for label, text in zip(marked["label"], marked["summ"], strict=True)
    ]
    names = [
        "dataset",
        "origin",
        "id",
        "doc",
        "summ",
        "model_name",
        "cut",
        "error_type",
        "annotated_span",
    ]
    marked[names].to_csv(
        folder / "data" / "error_type_mapping" / "CLIFF_error_types.csv", index=False
    )
    return folder


@pytest.fixture
def authors(tmp_path: Path) -> Path:
    return write_authors(tmp_path / "AggreFact")


@pytest.fixture
def cliff(authors: Path, tmp_path: Path) -> Path:
    """The same as JSON Lines, without the detectors."""
    table = pd.read_csv(authors / "data" / "aggre_fact_final.csv")
    table = table[table["model_name"] != "GOLD"]
    folder = tmp_path / "data" / "cliff"
    folder.mkdir(parents=True)
    rows = []
    for row in table.to_dict("records"):
        spans = [] if row["label"] else row["summary"].split()[:2]
        names = {
            "doc_id": row["id"],
            "dataset": "cnndm",
            "system": row["model_name"].lower(),
            "split": row["cut"],
        }
        rows.append(
            {
                **names,
                "source": row["doc"],
                "summary": row["summary"],
                "label": row["label"],
                "spans": spans,
            }
        )
    write_jsonl(folder / "cliff.jsonl", rows)
    return folder.parent
