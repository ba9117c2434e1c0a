"""Seconds and cents of the same pairs by several programs: this package's settings, BERTScore, the released code.

Seconds are medians of alternating runs, without loading.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import torch
import transformers
from torchmetrics.text.bert import BERTScore

from estime_metric import EstimeConfig, EstimeResult, EstimeScorer
from estime_metric.engine.encoder import masked
from estime_metric.engine.encoder.blocks import FusedBlock
from estime_metric.engine.encoder.loading import load_pretrained
from estime_metric.engine.words import split_words
from estime_metric.studies.benchmarks.shared.bertscore import BertScorer
from experiments.benchmarks import bump
from experiments.speed import common

BLANC, BERTSCORE = "`blanc.Estime` 0.3.4", "BERTScore of TorchMetrics, the first 512 tokens"
BERTSCORE_ONCE = "BERTScore that encodes each text once"
WITH_TRANSFORMERS = "distance 8, float32, with the blocks of `transformers`"
WORD = "unit `word`, distance 8, float32"
SETTINGS: dict[str, EstimeConfig] = {
    "default (distance 2, float32)": EstimeConfig(distance=2),
    'distance 2, `dtype="auto"`': EstimeConfig(distance=2, dtype="auto"),
    "distance 8, float32": EstimeConfig(distance=8),
    'distance 8, `dtype="auto"`': EstimeConfig(distance=8, dtype="auto"),
}

ARTICLES = 3  # of BUMP, for `cost`
SOURCES = 3  # of SummEval, for `peers`
PRICE = 5.0  # cents an hour

Run = Callable[[], Any]


def cost(*, data: Path = common.DATA) -> None:
    """Seconds and cents of a thousand pairs, by encoder and setting, and BERTScore.

    The pairs are CNN/DailyMail articles of BUMP with their reference summaries, one for each
    article.
    """
    pairs = news_pairs(data / "bump", ARTICLES)
    for model in ("embedded", "embedded-small"):
        with tempfile.TemporaryDirectory() as folder:
            layer = save(model, folder)
            runs = ours(model, SETTINGS, pairs) | {BERTSCORE: bertscore(folder, layer, pairs)}
            print_times(f"{model}, CNN/DailyMail (BUMP)", runs, len(pairs), rounds=1)


def peers(*, data: Path = common.DATA) -> None:
    """The same, compared with blanc.Estime, BERTScore, and the blocks of transformers.

    The pairs are those of SummEval, the encoder is embedded-small, with the same layer for all
    programs. The released code (blanc 0.3.4) gets this package's splitter and no tagger, because
    its own need data of NLTK. If alarms differ from the released code's by more than the ties, the
    case fails: then it would compare different work.
    """
    pairs = common.pairs_of(data, SOURCES)
    with tempfile.TemporaryDirectory() as folder:
        layer = save("embedded-small", folder)
        settings = {WORD: EstimeConfig(unit="word", distance=8), **SETTINGS}
        plain = scorer_with_blocks_of_transformers(folder, layer)
        runs = ours("embedded-small", settings, pairs) | {
            WITH_TRANSFORMERS: common.scoring(plain, pairs),
            BLANC: released(folder, layer, pairs),
            BERTSCORE: bertscore(folder, layer, pairs),
            BERTSCORE_ONCE: bertscore_once(folder, layer, pairs),
        }
        title = f"embedded-small, layer {layer}, SummEval"
        timed = print_times(title, runs, len(pairs), rounds=2)
    check_alarms(timed[WORD].returned, timed[BLANC].returned)


def print_times(
    title: str, runs: Mapping[str, Run], pairs: int, rounds: int
) -> dict[str, common.Runs[Any]]:
    """Runs the programs in turn, and prints the table."""
    timed = common.alternate(runs, rounds)
    title = f"{title}; {pairs} pairs, {PRICE:g} cents an hour"
    common.print_table(title, rows_of(timed, pairs))
    return timed


def rows_of(timed: Mapping[str, common.Runs[Any]], pairs: int) -> list[dict[str, object]]:
    """A row for each program: its speed, the cost of a thousand pairs, and how many times the speed of others."""
    others = [name for name in (BLANC, BERTSCORE, BERTSCORE_ONCE) if name in timed]
    rows: list[dict[str, object]] = []
    for name, runs in timed.items():
        seconds = runs.median * 1_000 / pairs
        rows.append(
            {
                "": name,
                "pairs/s": f"{pairs / runs.median:.1f}",
                "seconds of 1,000 pairs": f"{seconds:,.0f}",
                "cents": f"{seconds / 3600 * PRICE:.2f}",
                **{f"times {other}": f"{timed[other].ratio_to(runs):.1f}" for other in others},
            }
        )
    return rows


def news_pairs(folder: Path, articles: int) -> list[common.Pair]:
    """Pairs of reference summary and article."""
    table = bump.read(folder, limit=articles)
    references = table[table["system"] == bump.REFERENCE].drop_duplicates("article")
    return list(zip(references["summary"], references["source"], strict=True))


def save(model: str, folder: str) -> int:
    """Saves a bundled encoder for programs that do not know its int8 weights; returns the layer that ESTIME reads."""
    pretrained = load_pretrained(model, None, torch.float32)
    pretrained.save(folder)
    return pretrained.info.layer


def ours(
    model: str, settings: Mapping[str, EstimeConfig], pairs: Sequence[common.Pair]
) -> dict[str, Run]:
    """A run of this package with each setting."""
    return {
        name: common.scoring(EstimeScorer(config, model=model, device="cpu"), pairs)
        for name, config in settings.items()
    }


def scorer_with_blocks_of_transformers(folder: str, layer: int) -> EstimeScorer:
    """A scorer whose encoder runs as `transformers` runs it."""
    with (
        mock.patch.object(masked, "STORE", masked.EncoderStore()),
        mock.patch.object(FusedBlock, "fits", return_value=False),
    ):
        scorer = EstimeScorer(model=folder, layers=layer, distance=8, device="cpu")
        scorer.load()
    return scorer


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


def released(folder: str, layer: int, pairs: Sequence[common.Pair]) -> Run:
    """A run of the released code, which returns the alarms."""
    module: Any = released_code()
    if module is None:
        raise SystemExit("blanc 0.3.4 is not installed: pip install --no-deps blanc==0.3.4")
    estime = module.Estime(path_mdl=folder, i_layer_context=layer, device="cpu", output=["alarms"])
    summaries: dict[str, list[str]] = {}
    for summary, source in pairs:
        summaries.setdefault(source, []).append(summary)

    def run() -> list[float]:
        with torch.no_grad():  # without it the released code would only be slower
            return [
                alarms
                for source, texts in summaries.items()
                for (alarms,) in estime.evaluate_claims(source, texts)
            ]

    return run


def bertscore(folder: str, layer: int, pairs: Sequence[common.Pair]) -> Run:
    """A run of TorchMetrics' BERTScore, which cuts texts off after 512 tokens."""
    metric = BERTScore(model_name_or_path=folder, num_layers=layer, device="cpu", truncation=True)
    summaries, sources = common.unzip(pairs)

    def run() -> object:
        metric.reset()
        metric.update(summaries, sources)
        return metric.compute()

    return run


def bertscore_once(folder: str, layer: int, pairs: Sequence[common.Pair]) -> Run:
    """A run of this package's BERTScore; sources are cut off after 350 words, which an encoder of
    512 positions can read.
    """
    scorer = BertScorer(folder, layer=layer, device="cpu")
    summaries, sources = common.unzip(pairs)
    shorter = [[" ".join(source.split()[:350])] for source in sources]
    return lambda: scorer.score(summaries, shorter)


def check_alarms(result: EstimeResult, released_alarms: Sequence[float]) -> None:
    """Says how many alarms differ; ends the program if ties do not explain it."""
    alarms = result.values("alarms").tolist()
    differ = sum(own != other for own, other in zip(alarms, released_alarms, strict=True))
    print(f"\nAlarms that differ from {BLANC}'s: {differ} of {len(alarms)}; ties: {result.ties()}.")
    if differ > result.ties():
        raise SystemExit("The alarms differ: this compares different work.")
