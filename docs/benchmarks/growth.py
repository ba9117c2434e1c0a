"""Time and memory as texts and pairs grow: a part of `docs.benchmarks.peers`, which runs it."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any

import torch

from docs.benchmarks import common
from estime_metric import EstimeScorer

if TYPE_CHECKING:
    from docs.benchmarks.peers import Setting


def grown(setting: Setting, pairs: list[common.Pair]) -> tuple[float, float]:
    """Seconds, and megabytes above the loaded encoder at the peak; in a process of its own."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    child = context.Process(target=_grown, args=(answers, setting, pairs, torch.get_num_threads()))
    child.start()
    child.join()
    if child.exitcode:
        raise SystemExit("A run failed.")
    seconds, megabytes = answers.get()
    return seconds, megabytes


def _grown(answers: Any, setting: Setting, pairs: list[common.Pair], threads: int) -> None:
    torch.set_num_threads(threads)
    scorer = EstimeScorer(device=setting.device, model=setting.folder, layers=setting.layer)
    scorer.score(["The cat sat."], ["A cat sat on the mat."])
    before, start = common.resident(), setting.now()
    with common.Peak() as peak:
        scorer.score(*common.unzip(pairs))
    answers.put((setting.now() - start, (peak.most - before) / common.MEGABYTE))


def growth(setting: Setting) -> None:
    """Three tables: the length of the source, the number of pairs, the summaries of each source."""
    tokenizer = EstimeScorer(model=setting.folder, layers=setting.layer, device="cpu").encoder.tokenizer
    rows = []
    for words in (500, 2_000, 10_000, 100_000)[: 3 if setting.quick else 4]:
        ((summary, source),) = common.made_up(1, 1, words, 60)
        tokens = len(tokenizer(source, add_special_tokens=False, verbose=False)["input_ids"])
        seconds, megabytes = grown(setting, [(summary, source)])
        rows.append((f"{tokens:,}", f"{seconds:.2f}", f"{1000 * seconds / tokens:.2f}", f"{megabytes:.0f}"))
    columns = ("tokens of the source", "seconds", "seconds per 1,000 tokens", "MB above the encoder")
    common.print_table(f"Growth with the source: {setting.name}, one summary", columns, rows)
    rows = []
    for count in (100, 1_000, 10_000)[: 2 if setting.quick else 3]:
        pairs = common.made_up(-(-count // common.PER_SOURCE), words=100, summary_words=20)[:count]
        seconds, megabytes = grown(setting, pairs)
        rows.append((f"{count:,}", f"{seconds:.2f}", f"{count / seconds:.1f}", f"{megabytes:.0f}"))
    columns = ("pairs", "seconds", "pairs/s", "MB above the encoder")
    common.print_table("Growth with the pairs: sources of 100 words, 16 summaries of 20 words each", columns, rows)
    rows = []
    for each in (1, 4, 16):
        pairs, _ = common.pairs_of(setting.summeval, setting.sources, each)
        seconds, megabytes = grown(setting, pairs)
        rows.append((each, len(pairs), f"{seconds:.2f}", f"{len(pairs) / seconds:.1f}", f"{megabytes:.0f}"))
    columns = ("summaries of each source", "pairs", "seconds", "pairs/s", "MB above the encoder")
    common.print_table(f"Growth with the summaries of each source: {setting.texts()}", columns, rows)
