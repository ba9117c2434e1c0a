"""Correlation of ESTIME with the expert scores of SummEval (1600 pairs), for each layer of an encoder.

    python -m estime_metric.studies.embedded_encoder.evaluate_summeval SUMMEVAL [--model embedded]

`SUMMEVAL` is a folder with ``documents.jsonl`` (``doc_id``, ``source``) and ``summeval.jsonl`` (``doc_id``, ``summary``
and the experts' means of the four qualities). Alarms are negated; Spearman's rho and Kendall's tau-c over all pairs.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from scipy.stats import kendalltau, spearmanr

from estime_metric import EstimeConfig, EstimeScorer

QUALITIES = ("consistency", "relevance", "coherence", "fluency")


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("summeval", type=Path, help="folder of documents.jsonl and summeval.jsonl")
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--layers", type=int, nargs="+", default=[0, 1, 2, 3, 4, 5, 6])
    args = parser.parse_args()
    sources = {record["doc_id"]: record["source"] for record in read_lines(args.summeval / "documents.jsonl")}
    records = read_lines(args.summeval / "summeval.jsonl")
    scorer = EstimeScorer(EstimeConfig(model=args.model, layers=tuple(args.layers)))
    begun = time.monotonic()
    result = scorer.score(
        [record["summary"] for record in records], [sources[record["doc_id"]] for record in records], progress=True
    )
    print(result.signature)
    print(f"{len(result)} pairs, {time.monotonic() - begun:.0f} s; Spearman rho / Kendall tau-c")
    print(f"{'layer':>5} {'alarms':>7} " + " ".join(f"{quality:>15}" for quality in QUALITIES))
    for layer in result.layers:
        scores = -result.values("alarms", layer).numpy()
        cells = []
        for quality in QUALITIES:
            experts = [record[quality] for record in records]
            rho = spearmanr(scores, experts).statistic
            tau = kendalltau(scores, experts, variant="c").statistic
            cells.append(f"{rho:.3f} / {tau:.3f}")
        print(f"{layer:>5} {-scores.mean():>7.2f} " + " ".join(f"{cell:>15}" for cell in cells))


if __name__ == "__main__":
    main()
