"""Time and memory of scoring all of SummEval, float32 beside bfloat16 and the fast preset, with the alarms that
differ.

    python -m docs.benchmarks.summeval_speed ../shared/data/summeval

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

from docs.benchmarks import common


def measure(folder: Path, model: str, dtype: str, pairs: int) -> dict[str, object]:
    """Scores once and says how long it took."""
    from estime_metric import EstimeConfig, EstimeScorer

    summaries, sources = (texts[:pairs] for texts in common.read_summeval(folder))
    config = EstimeConfig.fast(model=model) if dtype == "fast" else EstimeConfig(model=model, dtype=dtype)
    scorer = EstimeScorer(config)
    scorer.score(summaries[:1], sources[:1])
    start = time.perf_counter()
    result = scorer.score(summaries, sources)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "alarms": result.values("alarms").tolist(),
        "ties": result.ties(),
        "matrix": common.matrix_peak(config.dtype),
        "signature": result.signature,
    }


def main() -> None:
    """Measures each precision and prints one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common.add_summeval(parser, "folder")
    parser.add_argument("--model", default="embedded-small")
    parser.add_argument("--dtypes", default="float32,bfloat16,fast", help="'fast' is the preset")
    parser.add_argument("--pairs", type=int, default=1600)
    parser.add_argument("--one", action="store_true", help="for the processes that this starts")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.folder, arguments.model, arguments.dtypes, arguments.pairs)))
        return
    runs = {}
    for dtype in arguments.dtypes.split(","):
        command = [sys.executable, "-m", "docs.benchmarks.summeval_speed", str(arguments.folder), "--one"]
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
