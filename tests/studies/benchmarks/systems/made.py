"""Made-up data of the study of systems: SummEval, FRANK and CLIFF in small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from tests.command import write_jsonl
from tests.families import SENTENCES
from tests.studies.benchmarks.frank import conftest as frank

#: Documents of SummEval: 50 for choosing, and 8 more.
DOCUMENTS = 58
SYSTEMS = ("good", "middle", "bad")


def write_folder(folder: Path) -> Path:
    """SummEval's system ``good`` copies, ``bad`` invents, and people see it; FRANK and CLIFF."""
    folder.mkdir(parents=True)
    _write_summeval(folder / "summeval")
    frank.write_folder(folder / "frank", frank.made_rows())
    rows = []
    for index in range(8):
        source, other = SENTENCES[index], SENTENCES[index + 1]
        for system, summary in (("bart", source), ("pegasus", other)):
            rows.append(
                {
                    "doc_id": f"{index}",
                    "dataset": "cnndm" if index % 2 else "xsum",
                    "system": system,
                    "split": "val" if index < 4 else "test",
                    "source": source,
                    "summary": summary,
                    "label": int(system == "bart"),
                }
            )
    (folder / "cliff").mkdir()
    write_jsonl(folder / "cliff" / "cliff.jsonl", rows)
    return folder


def _write_summeval(folder: Path) -> None:
    folder.mkdir()
    rng = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    sources = {}
    for index in range(DOCUMENTS):
        first, second = SENTENCES[index % 10], SENTENCES[(index + 3) % 10]
        sources[f"d{index}"] = f"{first} {second}"
        invented = " ".join(f"word{number}" for number in range(6))
        for number, summary in enumerate((first, f"{first} {invented}", invented)):
            rating = float(5 - 2 * number + rng.integers(-1, 2))
            rows.append(
                {
                    "doc_id": f"d{index}",
                    "system": SYSTEMS[number],
                    "summary": summary,
                    **dict.fromkeys(QUALITIES, rating),
                }
            )
    write_jsonl(
        folder / "documents.jsonl",
        ({"doc_id": name, "source": text} for name, text in sources.items()),
    )
    write_jsonl(
        folder / "references.jsonl",
        ({"doc_id": name, "references": [text]} for name, text in sources.items()),
    )
    (folder / "summeval.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
