"""How fast it is: beside its peers, against the machine's limit, and as texts and pairs grow.

    python -m docs.benchmarks.peers                 # everything
    python -m docs.benchmarks.peers --quick         # less of it, a few minutes
    python -m docs.benchmarks.peers peers limit     # some of its tables

Tables: `peers`, the released code of the authors (blanc 0.3.4) and the BERTScore of TorchMetrics on the same pairs,
encoder, layer, threads and device, medians of alternating runs; `limit`, FLOP/s over the matrix product's measured in
the same run, tokens, padding; `growth`, time and peak memory with the length of the source, the number of pairs, and
the summaries of each source. `--encoder` takes one of bert-large's size with random weights: slow on a CPU.

Texts are SummEval's where they are at hand, else made up in the same lengths. Loading is not counted anywhere. The
released code's splitter and tagger, which need data of NLTK, are replaced by ours and by none.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import transformers

from docs.benchmarks import common
from docs.benchmarks.growth import growth
from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.engine.words import split_words

TABLES = ("peers", "limit", "growth")


# The peers


def released_code() -> ModuleType | None:
    """The file ``blanc/estime.py`` alone: its package does not import with current versions of ``transformers``."""
    package = importlib.util.find_spec("blanc")
    folders = list(package.submodule_search_locations or ()) if package else []
    file = next((Path(folder) / "estime.py" for folder in folders if (Path(folder) / "estime.py").is_file()), None)
    if file is None:
        return None
    spec = importlib.util.spec_from_file_location("blanc_estime", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    transformers.utils.logging.set_verbosity_error()  # importing it sets the level
    module.word_tokenize = split_words
    module.nltk = type("nltk", (), {"pos_tag": staticmethod(lambda words: [(word, "X") for word in words])})
    module.BertTokenizer = transformers.AutoTokenizer
    return module


def released(folder: str, layer: int, device: str, pairs: list[common.Pair]) -> Callable[[], list[float]] | None:
    """A run of the released code, as it is; ``None`` where it is not installed."""
    module = released_code()
    if module is None:
        return None
    estime = module.Estime(path_mdl=folder, i_layer_context=layer, device=device, output=["alarms"])
    sources: dict[str, list[str]] = {}
    for summary, source in pairs:
        sources.setdefault(source, []).append(summary)

    def run() -> list[float]:
        with torch.no_grad():  # it asks for none, and would only be slower
            rows = [row for source, summaries in sources.items() for row in estime.evaluate_claims(source, summaries)]
        common.synchronize(device)
        return [alarms for (alarms,) in rows]

    return run


def bertscore(folder: str, layer: int, device: str, pairs: list[common.Pair]) -> Callable[[], Any] | None:
    """A run of TorchMetrics' BERTScore of the summaries against their sources; ``None`` where it is not installed."""
    try:
        from torchmetrics.text.bert import BERTScore
    except ImportError:
        return None
    metric = BERTScore(model_name_or_path=folder, num_layers=layer, device=device, truncation=True)
    summaries, sources = common.unzip(pairs)

    def run() -> Any:
        metric.reset()
        metric.update(summaries, sources)
        return metric.compute()

    return run


def ours(device: str, pairs: list[common.Pair], **options: Any) -> Callable[[], Any]:
    """A run of ours, loaded."""
    scorer = EstimeScorer(device=device, **options)
    _ = scorer.encoder
    summaries, sources = common.unzip(pairs)

    def run() -> Any:
        result = scorer.score(summaries, sources)
        common.synchronize(device)
        return result

    return run


def peers(setting: Setting) -> None:
    """The table of peers; refuses to print it where the alarms differ from the released code's beyond ties."""
    pairs, layer = setting.pairs(), setting.layer
    everyone: dict[str, Callable[[], Any] | None] = {
        "ours, word, float32": ours(setting.device, pairs, model=setting.folder, layers=layer, unit="word"),
        "ours, word, bfloat16": ours(
            setting.device, pairs, model=setting.folder, layers=layer, unit="word", dtype="bfloat16"
        ),
        "ours, token, float32": ours(setting.device, pairs, model=setting.folder, layers=layer),
        "ours, token, bfloat16": ours(setting.device, pairs, model=setting.folder, layers=layer, dtype="bfloat16"),
        "ours, token, fast preset": ours(
            setting.device, pairs, config=EstimeConfig.fast(model=setting.folder, layers=layer)
        ),
        "blanc.Estime 0.3.4, float32": released(setting.folder, layer, setting.device, pairs),
        "TorchMetrics BERTScore, float32": bertscore(setting.folder, layer, setting.device, pairs),
    }
    runs = {name: run for name, run in everyone.items() if run is not None}
    found = common.alternate(runs, setting.rounds, setting.now)
    seconds = {name: taken for name, (taken, _) in found.items()}
    rows = []
    for name, taken in seconds.items():
        against = [
            f"{seconds[peer] / taken:.1f}" if peer in seconds else "not installed" for peer in list(everyone)[-2:]
        ]
        rows.append((name, f"{taken:.2f}", f"{len(pairs) / taken:.3g}", *against))
    title = (
        f"Peers: {setting.name}, layer {layer}, {len(pairs)} pairs, {setting.rounds} alternating runs, {setting.device}"
    )
    common.print_table(title, ("", "seconds", "pairs/s", "times blanc.Estime", "times BERTScore"), rows)
    if "blanc.Estime 0.3.4, float32" in found:
        result = found["ours, word, float32"][1]
        theirs = found["blanc.Estime 0.3.4, float32"][1]
        differ = sum(a != b for a, b in zip(result.values("alarms").tolist(), theirs, strict=True))
        print(f"\nAlarms of ours (word, float32) that differ from blanc.Estime's: {differ} of {len(pairs)} summaries; "
              f"matches equal within rounding: {result.ties()}.")  # fmt: skip
        if differ > result.ties():
            raise SystemExit("The alarms differ: this compares different work.")


# The limit


@dataclass
class Work:
    """What the encoder was given: positions with and without padding, and floating-point operations of products."""

    positions: int = 0
    attended: int = 0
    operations: float = 0.0


@contextmanager
def counted(scorer: EstimeScorer) -> Iterator[Work]:
    """Counts the work of an encoder built like BERT's; padding is not counted as operations."""
    encoder, work = scorer.encoder, Work()
    shape = encoder._model.config
    width, inner, depth = shape.hidden_size, shape.intermediate_size, max(encoder.depth, 1)
    run = encoder._run

    def count(batch: Any, layers: Any, flat: Any) -> None:
        lengths = [batch.ids.shape[1]] * len(batch.ids) if batch.attended is None else batch.attended.sum(1).tolist()
        work.positions += batch.ids.size
        work.attended += sum(lengths)
        per_window = [0] * len(lengths)
        for row in batch.row.tolist():
            per_window[row] += 1
        for length, read in zip(lengths, per_window, strict=True):
            all_positions = length * (8 * width**2 + 4 * width * inner) + 4 * length**2 * width
            keys = length * 4 * width**2  # the last block: keys and values everywhere, the rest where it is read
            last = keys + read * (4 * width**2 + 4 * width * inner + 4 * length * width)
            work.operations += (depth - 1) * all_positions + last
        run(batch, layers, flat)

    encoder._run = count  # type: ignore[method-assign]
    try:
        yield work
    finally:
        del encoder._run  # type: ignore[attr-defined]


def limit(setting: Setting) -> None:
    """The table of FLOP/s, tokens and padding."""
    pairs, rows = setting.pairs(), []
    for dtype in ("float32", "bfloat16"):
        for distance in (8, 2):
            options = {"model": setting.folder, "layers": setting.layer, "dtype": dtype, "distance": distance}
            scorer = EstimeScorer(device=setting.device, **options)
            _ = scorer.encoder
            with counted(scorer) as work:
                scorer.score(*common.unzip(pairs))
            runs = {"": lambda scorer=scorer: scorer.score(*common.unzip(pairs))}
            ((taken, _),) = common.alternate(runs, setting.rounds, setting.now).values()
            peak = common.matrix_peak(dtype, setting.device, setting.now)
            done = work.operations / taken / 1e9
            rows.append((
                dtype, distance, f"{taken:.2f}", f"{len(pairs) / taken:.3g}", f"{work.attended / taken:,.0f}",
                f"{1 - work.attended / work.positions:.1%}", f"{done:.0f}", f"{peak:.0f}", f"{done / peak:.0%}",
            ))  # fmt: skip
    columns = ("dtype", "distance", "seconds", "pairs/s", "tokens/s", "padding", "GFLOP/s", "matrix GFLOP/s", "share")
    common.print_table(
        f"Limit: {setting.name}, layer {setting.layer}, {len(pairs)} pairs, {setting.device}", columns, rows
    )
    print(
        "\nTokens and GFLOP/s: those of the encoder, without padding, over the whole time, tokenizing and matching too."
    )


# Command line


@dataclass
class Setting:
    """What is run: an encoder, texts, a device, how often."""

    name: str
    folder: str
    layer: int
    device: str
    summeval: Path
    sources: int
    each: int
    rounds: int
    clock: str
    quick: bool

    def now(self) -> float:
        """The clock."""
        return common.clock(self.clock)()

    def pairs(self) -> list[common.Pair]:
        """The texts."""
        return common.pairs_of(self.summeval, self.sources, self.each)[0]

    def texts(self) -> str:
        """What they are."""
        return common.pairs_of(self.summeval, 1)[1]


def main() -> None:
    """The tables that are asked for, on the CPU, and on the GPU where there is one."""
    parser = common.arguments(__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)} (default: all)")
    common.add_summeval(parser)
    parser.add_argument("--quick", action="store_true", help="2 sources, 1 round, no 100,000 tokens or 10,000 pairs")
    parser.add_argument("--encoder", choices=("embedded-small", "large"), default="embedded-small")
    parser.add_argument("--blocks", type=int, default=24, help="of the large encoder")
    parser.add_argument("--width", type=int, default=1024, help="of the large encoder")
    parser.add_argument("--sources", type=int, default=None, help="default: 10; 2 for the large encoder on a CPU")
    parser.add_argument("--each", type=int, default=None, help="summaries of each source; default: 16; 4 likewise")
    parser.add_argument("--rounds", type=int, default=None, help="default: 5; 3 likewise")
    options = parser.parse_args()
    if unknown := set(options.tables) - set(TABLES):
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    print(common.machine())
    with tempfile.TemporaryDirectory() as folder:
        if options.encoder == "large":
            common.make_encoder(folder, options.blocks, options.width)
        else:
            common.save_small(folder)
        for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
            setting = make_setting(options, device, folder)
            for table in options.tables or TABLES:
                {"peers": peers, "limit": limit, "growth": growth}[table](setting)
    if not torch.cuda.is_available():
        print("\nNo GPU here.")


def make_setting(options: argparse.Namespace, device: str, folder: str) -> Setting:
    """The setting for one device."""
    large = options.encoder == "large"
    slow = large and device == "cpu"
    return Setting(
        name=f"random, {options.blocks} blocks, width {options.width}" if large else "embedded-small",
        folder=folder,
        layer=EstimeScorer(model=folder).resolved_config.layer_tuple[0],
        device=device,
        summeval=options.summeval,
        sources=options.sources or (1 if slow and options.quick else 2 if slow or options.quick else 10),
        each=options.each or (4 if slow else common.PER_SOURCE),
        rounds=options.rounds or (1 if options.quick else 3 if slow else 5),
        clock=options.clock,
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
