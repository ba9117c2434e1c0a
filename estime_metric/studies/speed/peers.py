"""How fast it is: beside its peers, against the machine's limit, and as texts and pairs grow.

    python -m estime_metric.studies.speed.peers                 # everything
    python -m estime_metric.studies.speed.peers --quick         # less of it, a few minutes
    python -m estime_metric.studies.speed.peers peers limit     # some of its tables

Tables: `peers`, the released code of the authors (blanc 0.3.4) and the BERTScore of TorchMetrics on
the same pairs, encoder, layer, threads and device, medians of alternating runs; `limit`, FLOP/s
over the matrix product's measured in the same run, tokens, padding; `growth`, time and peak memory
with the length of the source, the number of pairs, and the summaries of each source. `--encoder`
takes one of bert-large's size with random weights: slow on a CPU.

Texts are SummEval's if you have it, else made up in the same lengths. Loading is not counted
anywhere. The released code's splitter and tagger, which need data of NLTK, are replaced by this
package's splitter and by none.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
import transformers

from estime_metric import EstimeConfig, EstimeResult, EstimeScorer
from estime_metric.engine.text.words import split_words
from estime_metric.studies.speed import common


@dataclass(frozen=True)
class Setting:
    """What is run: an encoder, texts, a device, how often."""

    name: str
    folder: str
    layer: int
    device: str
    pairs: list[common.Pair]
    summeval: Path
    sources: int
    rounds: int
    clock: str
    quick: bool

    def now(self) -> float:
        return common.clock(self.clock)()

    def ours(self, **options: Any) -> EstimeScorer:
        """Our scorer, loaded."""
        scorer = EstimeScorer(
            device=self.device, **{"model": self.folder, "layers": self.layer, **options}
        )
        _ = scorer.encoder
        return scorer

    def run(self, scorer: EstimeScorer) -> EstimeResult:
        result = scorer.score(*common.unzip(self.pairs))
        common.synchronize(self.device)
        return result


# The peers


def released_code() -> ModuleType | None:
    """The file ``blanc/estime.py`` alone: its package does not import with current versions of
    ``transformers``.
    """
    package = importlib.util.find_spec("blanc")
    folders = list(package.submodule_search_locations or ()) if package else []
    file = next(
        (
            Path(folder) / "estime.py"
            for folder in folders
            if (Path(folder) / "estime.py").is_file()
        ),
        None,
    )
    if file is None:
        return None
    spec = importlib.util.spec_from_file_location("blanc_estime", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    transformers.utils.logging.set_verbosity_error()  # importing it sets the level
    module.word_tokenize = split_words
    module.nltk = type(
        "nltk", (), {"pos_tag": staticmethod(lambda words: [(word, "X") for word in words])}
    )
    module.BertTokenizer = transformers.AutoTokenizer
    return module


def released(setting: Setting) -> Callable[[], list[float]] | None:
    """A run of the released code, as it is; ``None`` where it is not installed."""
    module = released_code()
    if module is None:
        return None
    where = {"path_mdl": setting.folder, "i_layer_context": setting.layer, "device": setting.device}
    estime = module.Estime(**where, output=["alarms"])
    sources: dict[str, list[str]] = {}
    for summary, source in setting.pairs:
        sources.setdefault(source, []).append(summary)

    def run() -> list[float]:
        with torch.no_grad():  # it asks for none, and would only be slower
            rows = [
                row
                for source, summaries in sources.items()
                for row in estime.evaluate_claims(source, summaries)
            ]
        common.synchronize(setting.device)
        return [alarms for (alarms,) in rows]

    return run


def bertscore(setting: Setting) -> Callable[[], Any] | None:
    """A run of TorchMetrics' BERTScore of the summaries against their sources; ``None`` where it is
    not installed.
    """
    try:
        from torchmetrics.text.bert import BERTScore
    except ImportError:
        return None
    metric = BERTScore(
        model_name_or_path=setting.folder,
        num_layers=setting.layer,
        device=setting.device,
        truncation=True,
    )
    summaries, sources = common.unzip(setting.pairs)

    def run() -> Any:
        metric.reset()
        metric.update(summaries, sources)
        return metric.compute()

    return run


def peers(setting: Setting) -> None:
    """The table of peers; refuses to print it where the alarms differ from the released code's
    beyond ties.
    """
    pairs, theirs = setting.pairs, "blanc.Estime 0.3.4, float32"
    scorers = {
        "word, float32": setting.ours(unit="word"),
        "word, bfloat16": setting.ours(unit="word", dtype="bfloat16"),
        "token, float32": setting.ours(),
        "token, bfloat16": setting.ours(dtype="bfloat16"),
        "token, fast preset": setting.ours(config=EstimeConfig.fast()),
    }
    everyone: dict[str, Callable[[], Any] | None] = {
        **{f"ours, {name}": partial(setting.run, scorer) for name, scorer in scorers.items()},
        theirs: released(setting),
        "TorchMetrics BERTScore, float32": bertscore(setting),
    }
    runs = {name: run for name, run in everyone.items() if run is not None}
    found = common.alternate(runs, setting.rounds, setting.now)
    seconds = {name: taken for name, (taken, _) in found.items()}
    rows = []
    for name, taken in seconds.items():
        peers = [
            f"{seconds[peer] / taken:.1f}" if peer in seconds else "not installed"
            for peer in [*everyone][-2:]
        ]
        rows.append((name, f"{taken:.2f}", f"{len(pairs) / taken:.3g}", *peers))
    title = f"Peers: {setting.name}, layer {setting.layer}, {len(pairs)} pairs, {setting.rounds} alternating runs"
    columns = ("", "seconds", "pairs/s", "times blanc.Estime", "times BERTScore")
    common.print_table(f"{title}, {setting.device}", columns, rows)
    if theirs in found:
        result = found["ours, word, float32"][1]
        differ = sum(
            a != b for a, b in zip(result.values("alarms").tolist(), found[theirs][1], strict=True)
        )
        print(
            f"\nAlarms of ours (word, float32) that differ from blanc.Estime's: {differ} of {len(pairs)} summaries; "
            f"matches equal within rounding: {result.ties()}."
        )
        if differ > result.ties():
            raise SystemExit("The alarms differ: this compares different work.")


# The limit


@contextmanager
def counted(scorer: EstimeScorer) -> Iterator[SimpleNamespace]:
    """Counts positions with padding, tokens without it, and operations on these, for encoders like
    BERT.
    """
    encoder, work = scorer.encoder, SimpleNamespace(positions=0, tokens=0, operations=0.0)
    shape = encoder._model.config
    width, inner, depth = shape.hidden_size, shape.intermediate_size, max(encoder.depth, 1)
    run = encoder._run

    def count(batch: Any, layers: Any, flat: Any) -> None:
        windows, longest = batch.ids.shape
        lengths = (
            np.full(windows, longest)
            if batch.attended is None
            else np.asarray(batch.attended).sum(1)
        )
        read = np.bincount(batch.row, minlength=windows)
        maps = 8 * width**2 + 4 * width * inner
        whole = lengths * (maps + 4 * lengths * width)
        # The last block: keys and values everywhere, the rest where it is read.
        last = 4 * lengths * width**2 + read * (maps - 4 * width**2 + 4 * lengths * width)
        work.positions += batch.ids.size
        work.tokens += int(lengths.sum())
        work.operations += float(((depth - 1) * whole + last).sum())
        run(batch, layers, flat)

    encoder._run = count  # type: ignore[method-assign]
    try:
        yield work
    finally:
        del encoder._run  # type: ignore[attr-defined]


def limit(setting: Setting) -> None:
    """The table of FLOP/s, tokens and padding."""
    pairs, rows = setting.pairs, []
    for dtype in ("float32", "bfloat16"):
        for distance in (8, 2):
            scorer = setting.ours(dtype=dtype, distance=distance)
            with counted(scorer) as work:
                setting.run(scorer)
            ((taken, _),) = common.alternate(
                {"": partial(setting.run, scorer)}, setting.rounds, setting.now
            ).values()
            peak = common.matrix_peak(dtype, setting.device, setting.now)
            done = work.operations / taken / 1e9
            rows.append(
                (
                    dtype,
                    distance,
                    f"{taken:.2f}",
                    f"{len(pairs) / taken:.3g}",
                    f"{work.tokens / taken:,.0f}",
                    f"{1 - work.tokens / work.positions:.1%}",
                    f"{done:.0f}",
                    f"{peak:.0f}",
                    f"{done / peak:.0%}",
                )
            )
    columns = (
        "dtype",
        "distance",
        "seconds",
        "pairs/s",
        "tokens/s",
        "padding",
        "GFLOP/s",
        "matrix GFLOP/s",
        "share",
    )
    title = f"Limit: {setting.name}, layer {setting.layer}, {len(pairs)} pairs, {setting.device}"
    common.print_table(title, columns, rows)
    print(
        "\nTokens and GFLOP/s: the encoder's, without padding, over the whole time, tokenizing and matching too."
    )


# Growth


def grown(setting: Setting, pairs: list[common.Pair], threads: int) -> tuple[float, float]:
    """Seconds, and megabytes above the loaded encoder at the peak, in a process of its own."""
    torch.set_num_threads(threads)
    scorer = setting.ours()
    scorer.score(["The cat sat."], ["A cat sat on the mat."])
    before, start = common.resident(), setting.now()
    with common.Peak() as peak:
        scorer.score(*common.unzip(pairs))
    return setting.now() - start, (peak.most - before) / common.MEGABYTE


def growth(setting: Setting) -> None:
    """Three tables: the length of the source, the number of pairs, the summaries of each source."""
    tokenizer = setting.ours().encoder.tokenizer

    def grow(
        title: str,
        size: str,
        cases: Iterable[tuple[int, list[common.Pair]]],
        speed: str = "pairs/s",
    ) -> None:
        rows = []
        for number, pairs in cases:
            seconds, megabytes = common.apart(grown, setting, pairs, torch.get_num_threads())
            rate = (
                f"{len(pairs) / seconds:.1f}"
                if speed == "pairs/s"
                else f"{1000 * seconds / number:.2f}"
            )
            rows.append((f"{number:,}", len(pairs), f"{seconds:.2f}", rate, f"{megabytes:.0f}"))
        common.print_table(
            f"Growth with {title}", (size, "pairs", "seconds", speed, "MB above the encoder"), rows
        )

    texts = [
        common.made_up(1, 1, words, 60)
        for words in (500, 2_000, 10_000, 100_000)[: 3 if setting.quick else 4]
    ]
    lengths = [
        len(tokenizer(source, add_special_tokens=False, verbose=False)["input_ids"])
        for ((_, source),) in texts
    ]
    title = f"the source: {setting.name}, one summary"
    grow(
        title, "tokens of the source", zip(lengths, texts, strict=True), "seconds per 1,000 tokens"
    )
    counts = (100, 1_000, 10_000)[: 2 if setting.quick else 3]
    many = common.made_up(-(-counts[-1] // common.PER_SOURCE), words=100, summary_words=20)
    title = "the pairs: sources of 100 words, 16 summaries of 20 words each"
    grow(title, "sources", ((-(-count // common.PER_SOURCE), many[:count]) for count in counts))
    some = {each: common.pairs_of(setting.summeval, setting.sources, each) for each in (1, 4, 16)}
    cases = ((each, pairs) for each, (pairs, _) in some.items())
    grow(f"the summaries of each source: {some[1][1]}", "summaries of each source", cases)


# Command line


TABLES = {table.__name__: table for table in (peers, limit, growth)}


def main() -> None:
    """The tables that are asked for, on the CPU, and on the GPU where there is one."""
    parser = common.arguments(
        __doc__,
        blocks=(24, "of the large encoder"),
        width=(1024, "of the large encoder"),
        sources=(None, "default: 10; 2 for the large encoder on a CPU"),
        each=(None, "summaries of each source; default: 16; 4 likewise"),
        rounds=(None, "default: 5; 3 likewise"),
    )
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)} (default: all)"
    )
    common.add_summeval(parser)
    parser.add_argument(
        "--quick", action="store_true", help="2 sources, 1 round, no 100,000 tokens or 10,000 pairs"
    )
    parser.add_argument("--encoder", choices=("embedded-small", "large"), default="embedded-small")
    options = common.start(parser)
    if unknown := set(options.tables) - set(TABLES):
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        if options.encoder == "large":
            common.make_encoder(folder, options.blocks, options.width)
        else:
            common.save_small(folder)
        for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
            setting = make_setting(options, device, folder)
            for table in options.tables or TABLES:
                TABLES[table](setting)
    if not torch.cuda.is_available():
        print("\nNo GPU here.")


def make_setting(options: argparse.Namespace, device: str, folder: str) -> Setting:
    large = options.encoder == "large"
    slow = large and device == "cpu"
    sources = options.sources or (
        1 if slow and options.quick else 2 if slow or options.quick else 10
    )
    return Setting(
        name=f"random, {options.blocks} blocks, width {options.width}"
        if large
        else "embedded-small",
        folder=folder,
        layer=EstimeScorer(model=folder).resolved_config.layer_tuple[0],
        device=device,
        pairs=common.pairs_of(
            options.summeval, sources, options.each or (4 if slow else common.PER_SOURCE)
        )[0],
        summeval=options.summeval,
        sources=sources,
        rounds=options.rounds or (1 if options.quick else 3 if slow else 5),
        clock=options.clock,
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
