"""Time and memory of scoring all of SummEval, float32 beside lower precisions, with the alarms that flip.

    python -m tests.benchmarks.summeval_speed ../shared/data/summeval

Each precision runs in a process of its own, so that its peak memory is its own. Loading the encoder is not counted in
the seconds. The folder holds ``summeval.jsonl`` and ``documents.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table


def read_summeval(folder: Path) -> tuple[list[str], list[str]]:
    """Summaries and their sources, 1600 pairs."""
    documents = [json.loads(line) for line in (folder / "documents.jsonl").read_text(encoding="utf-8").splitlines()]
    sources = {document["doc_id"]: document["source"] for document in documents}
    rows = [json.loads(line) for line in (folder / "summeval.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row["summary"] for row in rows], [sources[row["doc_id"]] for row in rows]


def matrix_peak(dtype: str) -> float:
    """Most GFLOP/s of a 2048-wide matrix product in ten runs: what the machine can do at best."""
    import torch

    matrix = torch.randn(2048, 2048).to(getattr(torch, dtype))
    best = 0.0
    for _ in range(10):
        start = time.perf_counter()
        matrix @ matrix
        best = max(best, 2 * 2048**3 / (time.perf_counter() - start) / 1e9)
    return best


def measure(folder: Path, model: str, dtype: str, pairs: int) -> dict[str, object]:
    """Scores once and says how long it took."""
    from estime_metric import EstimeScorer

    summaries, sources = (texts[:pairs] for texts in read_summeval(folder))
    scorer = EstimeScorer(model=model, dtype=dtype)
    scorer.score(summaries[:1], sources[:1])
    start = time.perf_counter()
    result = scorer.score(summaries, sources)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "alarms": result.values("alarms").tolist(),
        "ties": result.ties(),
        "matrix": matrix_peak(dtype),
        "signature": result.signature,
    }


def main() -> None:
    """Measures each precision and prints one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--pairs", type=int, default=1600)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.folder, arguments.model, arguments.dtypes, arguments.pairs)))
        return
    runs = {}
    for dtype in arguments.dtypes.split(","):
        command = [sys.executable, "-m", "tests.benchmarks.summeval_speed", str(arguments.folder), "--one"]
        command += ["--model", arguments.model, "--dtypes", dtype, "--pairs", str(arguments.pairs)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        runs[dtype] = json.loads(done.stdout.splitlines()[-1])
    first = next(iter(runs.values()))
    table = Table(
        "dtype", "seconds", "pairs/s", "peak MB", "mean alarms", "summaries that differ", "ties", "matrix GFLOP/s"
    )
    for dtype, run in runs.items():
        alarms = run["alarms"]
        table.add_row(
            dtype,
            f"{run['seconds']:.1f}",
            f"{len(alarms) / run['seconds']:.1f}",
            f"{run['peak']:.0f}",
            f"{sum(alarms) / len(alarms):.3f}",
            str(sum(a != b for a, b in zip(alarms, first["alarms"], strict=True))),
            str(run["ties"]),
            f"{run['matrix']:.0f}",
        )
    Console().print(table)
    print(f"{len(first['alarms'])} pairs on {platform.processor() or platform.machine()}; {first['signature']}")


if __name__ == "__main__":
    main()
