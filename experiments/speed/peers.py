"""Speed compared with other programs, with the same pairs, encoder, layer and threads.

    python -m experiments.speed.peers SUMMEVAL --threads 1 --clock cpu

The others are the authors' released code (blanc 0.3.4), TorchMetrics' BERTScore of the summaries
against their sources, a BERTScore that encodes each text once, and this package with the blocks of
`transformers` in place of its own. Seconds are medians of alternating runs, without loading. The
released code's splitter and tagger, which need data of NLTK, are replaced by this package's splitter
and by none. The encoder is `embedded-small`, a BERT, since the released code takes no other.

The script fails if the alarms differ from the released code's by more than the ties: then it would
compare different work.
"""

from __future__ import annotations

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
WORD = "unit `word`, float32"
OURS: dict[str, EstimeConfig] = {
    WORD: EstimeConfig(unit="word"),
    "default (unit `token`, float32)": EstimeConfig(),
    '`dtype="auto"`': EstimeConfig(dtype="auto"),
    "fast preset, float32": EstimeConfig.fast(dtype="float32"),
    'fast preset, `dtype="auto"`': EstimeConfig.fast(dtype="auto"),
}
WITH_TRANSFORMERS = "default, with the blocks of `transformers`"


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

    def scoring(self, scorer: EstimeScorer) -> Callable[[], EstimeResult]:
        """A run of this package."""
        summaries, sources = common.unzip(self.pairs)
        return lambda: scorer.score(summaries, sources)


def scorer_with_blocks_of_transformers(setting: Setting) -> EstimeScorer:
    """A scorer whose encoder runs as `transformers` runs it."""
    with (
        mock.patch.object(store, "STORE", store.EncoderStore()),
        mock.patch.object(FusedBlock, "fits", return_value=False),
    ):
        return setting.scorer(EstimeConfig())


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
    found: ModuleType = module
    return found


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
    found: dict[str, Callable[[], Any] | None] = {
        name: setting.scoring(setting.scorer(config)) for name, config in OURS.items()
    }
    found[WITH_TRANSFORMERS] = setting.scoring(scorer_with_blocks_of_transformers(setting))
    found[BLANC] = released(setting)
    found[BERTSCORE] = bertscore(setting)
    found[BERTSCORE_ONCE] = bertscore_once(setting)
    return {name: run for name, run in found.items() if run is not None}


def table(found: Mapping[str, common.Runs[Any]], pairs: int) -> list[list[object]]:
    """A row for each program: seconds, pairs per second, and how many times the speed of three
    others.
    """
    rows: list[list[object]] = []
    for name, runs in found.items():
        times = [
            f"{found[other].ratio_to(runs):.1f}" if other in found else "not installed"
            for other in (BLANC, BERTSCORE, BERTSCORE_ONCE)
        ]
        rows.append([name, f"{runs.median:.2f}", f"{pairs / runs.median:.1f}", *times])
    return rows


def check_alarms(ours: EstimeResult, theirs: Sequence[float]) -> None:
    """Says how many alarms differ; ends the script if ties do not explain it."""
    found = ours.values("alarms").tolist()
    differ = sum(one != another for one, another in zip(found, theirs, strict=True))
    print(f"\nAlarms that differ from {BLANC}'s: {differ} of {len(found)}; ties: {ours.ties()}.")
    if differ > ours.ties():
        raise SystemExit("The alarms differ: this compares different work.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` in place of the process's."""
    parser = common.arguments(__doc__, sources=(3, "with 16 summaries each"), each=16, rounds=3)
    common.add_summeval(parser, "summeval", nargs="?")
    options = common.start(parser, arguments)
    pairs, texts = common.pairs_of(options.summeval, options.sources, options.each)
    with tempfile.TemporaryDirectory() as folder:
        common.save_bundled("embedded-small", folder)
        layer = EstimeScorer(model=folder).resolved_config.layer_tuple[0]
        setting = Setting(folder, layer, pairs)
        found = common.alternate(runs_of(setting), options.rounds, common.clock(options.clock))
    columns = ("", "seconds", "pairs/s", "x blanc", "x BERTScore", "x BERTScore, each text once")
    title = f"embedded-small, layer {layer}, {len(pairs)} pairs of {texts}, {options.rounds} rounds"
    common.print_table(title, columns, table(found, len(pairs)))
    if BLANC in found:
        check_alarms(found[WORD].returned, found[BLANC].returned)


if __name__ == "__main__":
    main()
