"""Speed compared with other programs, with the same pairs, encoder, layer and threads.

    python -m experiments.speed peers --threads 1 --clock cpu

The others are the authors' released code (blanc 0.3.4), TorchMetrics' BERTScore of the summaries
against their sources, a BERTScore that encodes each text once, and this package with the blocks of
`transformers` in place of its own. Seconds are medians of alternating runs, without loading. The
released code's splitter and tagger, which need data of NLTK, are replaced by this package's splitter
and by none. The encoder is `embedded-small`, a BERT, since the released code takes no other.

The script fails if the alarms differ from the released code's by more than the ties: then it would
compare different work.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch
import transformers

from estime_metric import EstimeConfig, EstimeResult, EstimeScorer
from estime_metric.engine.encoder import store
from estime_metric.engine.encoder.fused import FusedBlock
from estime_metric.engine.text.words import split_words
from estime_metric.studies.benchmarks.shared.bertscore import BertScorer
from experiments.speed import common

BLANC, BERTSCORE = "`blanc.Estime` 0.3.4", "BERTScore of TorchMetrics"
BERTSCORE_ONCE = "BERTScore that encodes each text once"
WORD = "unit `word`, distance 8, float32"
OURS: dict[str, EstimeConfig] = {
    WORD: EstimeConfig(unit="word", distance=8),
    "unit `token`, distance 8, float32": EstimeConfig(distance=8),
    "default: distance 2, float32": EstimeConfig(distance=2),
    'distance 2, `dtype="auto"`': EstimeConfig(distance=2, dtype="auto"),
}
OPTIONS = {
    "sources": (3, "of SummEval"),
    "each": (16, "summaries of each source"),
    "rounds": (3, "that are timed"),
}
WITH_TRANSFORMERS = "distance 8, float32, with the blocks of `transformers`"


@dataclass(frozen=True)
class Setting:
    """What all programs run: pairs on an encoder in a folder, read at a layer."""

    folder: str
    layer: int
    pairs: Sequence[common.Pair]

    def scorer(self, config: EstimeConfig) -> EstimeScorer:
        """This package's scorer, loaded."""
        scorer = EstimeScorer(config, model=self.folder, layers=self.layer, device="cpu")
        scorer.load()
        return scorer


def scorer_with_blocks_of_transformers(setting: Setting) -> EstimeScorer:
    """A scorer whose encoder runs as `transformers` runs it."""
    with (
        mock.patch.object(store, "STORE", store.EncoderStore()),
        mock.patch.object(FusedBlock, "fits", return_value=False),
    ):
        return setting.scorer(EstimeConfig(distance=8))


def released_code() -> ModuleType | None:
    """The file ``blanc/estime.py`` alone, since its package does not import with current versions
    of ``transformers``; ``None`` if it is not installed.
    """
    package = importlib.util.find_spec("blanc")
    folders = (package.submodule_search_locations or ()) if package else ()
    files = (Path(folder) / "estime.py" for folder in folders)
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return None
    spec = importlib.util.spec_from_file_location("blanc_estime", file)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    transformers.utils.logging.set_verbosity_error()  # importing it sets the level
    module.word_tokenize = split_words
    module.nltk = type("nltk", (), {"pos_tag": staticmethod(_no_tags)})
    module.BertTokenizer = transformers.AutoTokenizer
    released_module: ModuleType = module
    return released_module


def _no_tags(words: list[str]) -> list[tuple[str, str]]:
    return [(word, "X") for word in words]


def released(setting: Setting) -> Callable[[], list[float]] | None:
    """A run of the released code, which returns the alarms; ``None`` if it is not installed."""
    module: Any = released_code()
    if module is None:
        return None
    estime = module.Estime(
        path_mdl=setting.folder, i_layer_context=setting.layer, device="cpu", output=["alarms"]
    )
    summaries: dict[str, list[str]] = {}
    for summary, source in setting.pairs:
        summaries.setdefault(source, []).append(summary)

    def run() -> list[float]:
        with torch.no_grad():  # without it the released code would only be slower
            rows = [
                row
                for source, texts in summaries.items()
                for row in estime.evaluate_claims(source, texts)
            ]
        return [alarms for (alarms,) in rows]

    return run


def bertscore(setting: Setting) -> Callable[[], object] | None:
    """A run of TorchMetrics' BERTScore, which cuts texts off after 512 tokens; ``None`` if it is
    not installed.
    """
    try:
        from torchmetrics.text.bert import BERTScore
    except ImportError:
        return None
    metric = BERTScore(
        model_name_or_path=setting.folder, num_layers=setting.layer, device="cpu", truncation=True
    )
    summaries, sources = common.unzip(setting.pairs)

    def run() -> object:
        metric.reset()
        metric.update(summaries, sources)
        return metric.compute()

    return run


def bertscore_once(setting: Setting) -> Callable[[], object]:
    """A run of this package's BERTScore; sources are cut off after 350 words, which an encoder of
    512 positions can read.
    """
    scorer = BertScorer(setting.folder, layer=setting.layer, device="cpu")
    summaries, sources = common.unzip(setting.pairs)
    shorter = [[" ".join(source.split()[:350])] for source in sources]
    return lambda: scorer.score(summaries, shorter)


def runs_of(setting: Setting) -> dict[str, Callable[[], Any]]:
    """A run of each program that is installed, by name."""
    runs: dict[str, Callable[[], Any] | None] = {
        name: common.scoring(setting.scorer(config), setting.pairs) for name, config in OURS.items()
    }
    runs[WITH_TRANSFORMERS] = common.scoring(
        scorer_with_blocks_of_transformers(setting), setting.pairs
    )
    runs[BLANC] = released(setting)
    runs[BERTSCORE] = bertscore(setting)
    runs[BERTSCORE_ONCE] = bertscore_once(setting)
    return {name: run for name, run in runs.items() if run is not None}


def table(timed: Mapping[str, common.Runs[Any]], pairs: int) -> list[list[object]]:
    """A row for each program: seconds, pairs per second, and how many times the speed of three
    others.
    """
    rows: list[list[object]] = []
    for name, runs in timed.items():
        times = [
            f"{timed[other].ratio_to(runs):.1f}" if other in timed else "not installed"
            for other in (BLANC, BERTSCORE, BERTSCORE_ONCE)
        ]
        rows.append([name, f"{runs.median:.2f}", f"{pairs / runs.median:.1f}", *times])
    return rows


def check_alarms(ours: EstimeResult, theirs: Sequence[float]) -> None:
    """Says how many alarms differ; ends the script if ties do not explain it."""
    alarms = ours.values("alarms").tolist()
    differ = sum(own != released for own, released in zip(alarms, theirs, strict=True))
    print(f"\nAlarms that differ from {BLANC}'s: {differ} of {len(alarms)}; ties: {ours.ties()}.")
    if differ > ours.ties():
        raise SystemExit("The alarms differ: this compares different work.")


def run(options: argparse.Namespace) -> None:
    """Prints the table."""
    pairs, texts = common.pairs_of(options.summeval, options.sources, options.each)
    with tempfile.TemporaryDirectory() as folder:
        common.save_bundled("embedded-small", folder)
        layer = EstimeScorer(model=folder).resolved_config.layer_tuple[0]
        setting = Setting(folder, layer, pairs)
        timed = common.alternate(runs_of(setting), options.rounds, common.clock(options.clock))
    columns = ("", "seconds", "pairs/s", "x blanc", "x BERTScore", "x BERTScore, each text once")
    title = f"embedded-small, layer {layer}, {len(pairs)} pairs of {texts}, {options.rounds} rounds"
    common.print_table(title, columns, table(timed, len(pairs)))
    if BLANC in timed:
        check_alarms(timed[WORD].returned, timed[BLANC].returned)
