"""Time and memory of scoring all of SummEval: float32 beside bfloat16 and the fast preset, with the
alarms that differ.

    python -m estime_metric.studies.speed.summeval_speed ../shared/data/summeval

Each precision runs in a process of its own, so that its peak memory is its own. Loading the encoder
is not counted in the seconds.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Any

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.studies.speed import common


def measure(folder: Path, model: str, dtype: str, pairs: int) -> dict[str, Any]:
    summaries, sources = common.unzip(common.read_summeval(folder)[0][:pairs])
    config = (
        EstimeConfig.fast(model=model)
        if dtype == "fast"
        else EstimeConfig(model=model, dtype=dtype)
    )
    scorer = EstimeScorer(config)
    scorer.score(summaries[:1], sources[:1])
    start = time.perf_counter()
    result = scorer.score(summaries, sources)
    return {
        "seconds": time.perf_counter() - start,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "alarms": result.values("alarms"),
        "ties": result.ties(),
        "matrix": common.matrix_peak(config.dtype),
        "signature": result.signature,
    }


def main() -> None:
    parser = common.arguments(
        __doc__,
        model="embedded-small",
        dtypes=("float32,bfloat16,fast", "'fast' is the preset"),
        pairs=1600,
    )
    common.add_summeval(parser, "folder", nargs="?")
    options = common.start(parser)
    runs = {
        dtype: common.apart(measure, options.folder, options.model, dtype, options.pairs)
        for dtype in options.dtypes.split(",")
    }
    first, *_ = runs.values()
    rows = []
    for dtype, run in runs.items():
        alarms, differ = run["alarms"], int((run["alarms"] != first["alarms"]).sum())
        speed = f"{run['seconds']:.1f}", f"{len(alarms) / run['seconds']:.1f}", f"{run['peak']:.0f}"
        rows.append(
            (dtype, *speed, f"{alarms.mean():.3f}", differ, run["ties"], f"{run['matrix']:.0f}")
        )
    columns = (
        "seconds",
        "pairs/s",
        "peak MB",
        "mean alarms",
        "summaries that differ",
        "ties",
        "matrix GFLOP/s",
    )
    common.print_table(
        f"{len(first['alarms'])} pairs; {first['signature']}", ("dtype", *columns), rows
    )


if __name__ == "__main__":
    main()
