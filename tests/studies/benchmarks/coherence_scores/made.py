"""Made-up scores of coherence measures and judgements, in the layout of the published ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

SYSTEMS = {"M0": "LEAD-3", "M22": "BART", "M11": "Improve-abs"}


def write_folder(folder: Path) -> Path:
    """Eight documents, three systems, two measures; one more system without judgements."""
    rng = np.random.default_rng(0)
    for name in ("summeval", "coherence_scores", "shuffle"):
        (folder / name).mkdir(parents=True)
    cells = [(f"d{number}", system) for number in range(8) for system in SYSTEMS]
    rows = [
        {"doc_id": document, "system": system, "summary": "One. Two."} for document, system in cells
    ]
    judged = [json.dumps(row | {"coherence": float(rng.integers(3, 16)) / 3}) for row in rows]
    (folder / "summeval" / "summeval.jsonl").write_text("\n".join(judged))
    names = enumerate(SYSTEMS.items())
    properties = [
        f"{system},{name},1,{number % 2},{number // 2}" for number, (system, name) in names
    ]
    header = "system,name,extractive,pretrained_transformer,produces_capitals"
    (folder / "summeval" / "systems.csv").write_text(
        "\n".join([header, *properties, "MX,more,0,0,0"]) + "\n"
    )
    for measure in ("bartscore", "gruen"):
        scores = [
            f"{document},{system},{rng.normal()}" for document, system in [*cells, ("d0", "MX")]
        ]
        (folder / "coherence_scores" / f"{measure}.csv").write_text(
            "\n".join(["doc,system,score", *scores]) + "\n"
        )
        pairs = [f"t{number},{label},{rng.normal()}" for number in range(9) for label in (1, 0)]
        (folder / "shuffle" / f"{measure}.csv").write_text(
            "\n".join(["id,label,score", *pairs]) + "\n"
        )
    return folder
