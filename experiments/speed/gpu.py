"""What a GPU does: pairs per second and its busy share, next to other programs of the same shapes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.profiler import ProfilerActivity, profile

from estime_metric import ESTIME, embedded
from experiments.benchmarks.common import records
from experiments.speed.common import DATA, Pairs, frank_pairs
from experiments.speed.host import BATCH, epoch, first_epoch
from experiments.speed.programs import SHAPES, bertscore, model_of, ours, saved

PAIRS, DETECTOR_BATCH, DEVICE = 2000, 32, "cuda:0"

#: Encoders of detectors; the last one is ModernBERT-large.
DETECTORS = {
    **{name: SHAPES[name] for name in ("HHEM-2.1-open", "LettuceDetect-base")},
    "LettuceDetect-large": transformers.ModernBertConfig(
        hidden_size=1024, intermediate_size=2624, num_hidden_layers=28, num_attention_heads=16
    ),
}


def gpu(*, data: Path = DATA, pairs: int = PAIRS) -> None:
    """Pairs per second of FRANK and CLIFF on a GPU, and the share of the time in which it is busy.

    The share is the time of all kernels, by the profiler of torch, divided by the wall time of the
    same run. Each program runs once before it is timed, and is timed without the profiler. An epoch
    of a validation loop caches all sources. The detectors have random weights.
    """
    if not torch.cuda.is_available():
        print("There is no GPU: PyTorch finds no CUDA device.")
        return
    print(torch.cuda.get_device_name())
    texts = frank_and_cliff(data, pairs)
    print(f"{len(texts[0])} pairs of FRANK and CLIFF: per second, CPU seconds, busy share")
    with saved("embedded") as (folder, layer):
        for name, run in _programs(texts, folder, layer).items():
            per_second, cpu_seconds, busy = _measured(run, len(texts[0]))
            print(f"{name:54}{per_second:8.0f}{cpu_seconds:8.1f}{busy:8.2f}", flush=True)


def frank_and_cliff(data: Path, number: int) -> Pairs:
    """Pairs of CLIFF and, as many as there are, of FRANK."""
    cliff = records(data / "cliff" / "cliff.jsonl").head(number)
    summaries, sources = frank_pairs(data, number - len(cliff))
    return [*cliff["summary"], *summaries], [*cliff["source"], *sources]


def _programs(pairs: Pairs, folder: str, layer: int) -> dict[str, Callable[[], object]]:
    runs: dict[str, Callable[[], object]] = {}

    def add(name: str, program: Callable[[Pairs], object]) -> None:
        runs[name] = lambda: program(pairs)

    for name, options in (
        ("float32", {}),
        ("bfloat16", {"dtype": "bfloat16"}),
        ("distance 8, float32", {"distance": 8}),
        ("distance 8, bfloat16", {"distance": 8, "dtype": "bfloat16"}),
    ):
        add(f"ESTIME, {name}", ours("embedded", device=DEVICE, **options))
    add("BERTScore of TorchMetrics, same encoder", bertscore(folder, layer, device=DEVICE))
    for name, config in DETECTORS.items():
        add(f"{name}, bfloat16, batches of {DETECTOR_BATCH}", _in_batches(config))
    metric = ESTIME(device=DEVICE, dtype="bfloat16", cache=10**10)
    name = f"ESTIME, bfloat16, updates with {BATCH} pairs"
    add(f"{name}, first epoch", lambda pairs: first_epoch(metric, pairs))
    add(f"{name}, later epochs", lambda pairs: epoch(metric, pairs))
    return runs


def _in_batches(config: transformers.PretrainedConfig) -> Callable[[Pairs], object]:
    """An encoder of this shape that reads each summary with its source, several together."""
    model: Any = model_of(config).to(DEVICE, torch.bfloat16)
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)

    def run(pairs: Pairs) -> None:
        order = sorted(range(len(pairs[0])), key=lambda row: len(pairs[1][row]))
        for start in range(0, len(order), DETECTOR_BATCH):
            rows = order[start : start + DETECTOR_BATCH]
            both = [[texts[row] for row in rows] for texts in pairs[::-1]]
            inputs = tokenizer(*both, padding=True, return_tensors="pt").to(DEVICE)
            with torch.inference_mode():
                model(inputs["input_ids"], attention_mask=inputs["attention_mask"])

    return run


def _measured(run: Callable[[], object], pairs: int) -> tuple[float, float, float]:
    """Pairs per second, CPU seconds, and the share of the time in which kernels run."""
    run()
    seconds, cpu_seconds = _timed(run)
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        profiled, _ = _timed(run)
    kernels = sum(
        event.time_range.elapsed_us()
        for event in profiler.events() or ()
        if event.device_type.name == "CUDA"
    )
    return pairs / seconds, cpu_seconds, kernels / 1e6 / profiled


def _timed(run: Callable[[], object]) -> tuple[float, float]:
    torch.cuda.synchronize()
    start, cpu_start = time.perf_counter(), time.process_time()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - start, time.process_time() - cpu_start
