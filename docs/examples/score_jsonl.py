"""Scores a JSON Lines file on several processes and writes one merged file, without Lightning.

Every line needs ``source`` and ``summary``. Each process scores its share of the lines; the first one writes all of
them, in their order, with the measures added; a rate of nothing is null.

    torchrun --nproc-per-node 2 docs/examples/score_jsonl.py pairs.jsonl scores.jsonl --model embedded

On a machine with GPUs start one process for each.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from pathlib import Path

import torch
from torch import distributed

from estime_metric import ESTIME
from estime_metric.files import plain


def main() -> None:
    """Scores this process's lines; the first process writes the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--model", default="bert-large-uncased-whole-word-masking")
    parser.add_argument("--cache", help="a folder for source embeddings")
    options = parser.parse_args()

    gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if gpu else "gloo")
    rank, processes = distributed.get_rank(), distributed.get_world_size()

    metric = ESTIME(model=options.model, cache=options.cache, return_dict=True, reduction=None).to(device)
    with options.pairs.open(encoding="utf-8") as lines:
        own = itertools.islice(enumerate(lines), rank, None, processes)
        while block := list(itertools.islice(own, 256)):
            rows = [json.loads(line) for _, line in block]
            ids = [number for number, _ in block]
            metric.update([row["summary"] for row in rows], sources=[row["source"] for row in rows], ids=ids)

    values = metric.compute()  # on every process; the numbers of all of them, in order of the ids
    signature = metric.signature
    if rank == 0:
        columns = {measure: [plain(value) for value in column.tolist()] for measure, column in values.items()}
        unfinished = options.scores.with_name(options.scores.name + ".part")
        with options.pairs.open(encoding="utf-8") as lines, unfinished.open("w", encoding="utf-8") as out:
            for index, line in enumerate(lines):
                scores = {measure: column[index] for measure, column in columns.items()}
                print(json.dumps({**json.loads(line), **scores, "signature": signature}), file=out)
        unfinished.replace(options.scores)
        print(f"{len(columns['alarms'])} pairs, {sum(columns['alarms']):.0f} alarms")
    distributed.barrier()  # all processes leave together: one that leaves early may be torn down uncleanly
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
