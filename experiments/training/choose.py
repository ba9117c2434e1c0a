"""Choose weights and layer of a bundled encoder by several sets of judgements, by a rule written
down beforehand.

    python -m experiments.training.choose make CORPUS MAKER injected.jsonl
    python -m experiments.training.choose score FOLDER injected.jsonl DATA -o scores/NAME
    python -m experiments.training.choose rank injected.jsonl DATA scores/A scores/B ...
    python -m experiments.training.choose score FOLDER injected.jsonl DATA --half report -o report/NAME
    python -m experiments.training.choose rank injected.jsonl DATA report/A report/B ...

`make` puts errors into documents set aside, once for all candidates: `MAKER`, an encoder with a
prediction head, finds the wrong words. `score` measures one candidate at all layers; `DATA` has
``bump``, ``frank``, ``cliff`` and ``summeval``. `rank` prints the figures of each layer, their mean,
and for the best layer of each candidate the mean with its interval, and the difference from the
first one's with its interval and standard error (paired bootstrap over documents). The rule is in
experiments/training/README.md. The half ``report`` has no injected errors and no extracts; nothing is
chosen by it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.engine.encoder.loading import load_pretrained
from estime_metric.explanation import Explanation
from estime_metric.stats.checks import Floats
from estime_metric.studies.benchmarks.aggrefact.data import ORIGINS
from estime_metric.studies.benchmarks.shared.frames import with_interval
from experiments.training.data import documents
from experiments.training.judged import CHOICE, HALVES, JudgedPair, JudgedSet, read_pairs, sets_of

SOURCE_WORDS = 400  # documents are cut at the paragraph in which this many words are reached
LEADING_SENTENCES = 15  # sentences from which a pseudo-summary is drawn
SUMMARIES = 4  # pseudo-summaries of each document
#: Texts made from a document: summaries, the same with injected errors, and extracts.
CLEAN = "clean"
INJECTED_KINDS = ("document word", "model word")
EXTRACT_KINDS = ("consecutive", "scattered")
RESAMPLES = 500
#: What is kept of each pair: measures, and of CLIFF `token_counts`.
COUNTED = ("alarms", "graded_alarms", "overlap", "tokens")
TOKENS = ("checked", "flagged", "marked", "marked_flagged")


def shorten(text: str) -> str:
    """The leading paragraphs of a document, until `SOURCE_WORDS` words are reached."""
    kept: list[str] = []
    for paragraph in text.split("\n"):
        kept.append(paragraph)
        if sum(len(part.split()) for part in kept) >= SOURCE_WORDS:
            break
    return " ".join(kept)


def sentences_of(source: str) -> list[list[str]]:
    """Words of the sentences of the first part that are neither short nor long."""
    sentences = [
        sentence.split()
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'])", source)[:LEADING_SENTENCES]
    ]
    return [words for words in sentences if 8 <= len(words) <= 40]


def pseudo_summary(sentences: Sequence[list[str]], rng: random.Random) -> list[str]:
    """Words of three of the sentences: half of them cut at a comma, one word in fifteen omitted."""
    words: list[str] = []
    for place in sorted(rng.sample(range(len(sentences)), 3)):
        sentence = sentences[place]
        commas = [k for k, word in enumerate(sentence) if word.endswith(",") and k >= 6]
        if commas and rng.random() < 0.5:
            end = rng.choice(commas)
            sentence = [*sentence[:end], sentence[end].rstrip(",") + "."]
        words += [
            word
            for k, word in enumerate(sentence)
            if k in (0, len(sentence) - 1) or rng.random() > 1 / 15
        ]
    return words


class WordReplacer:
    """Replaces words of a summary: by words of its document, or by predictions of a masked language
    model.
    """

    def __init__(self, folder: str) -> None:
        pretrained = load_pretrained(folder, None, torch.float32)
        self.tokenizer, self.model = pretrained.tokenizer, pretrained.with_head().eval()
        self.vocabulary = self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))

    @staticmethod
    def choose_positions(words: list[str], rng: random.Random) -> list[int]:
        """One to three positions of plain words, at least four letters long."""
        plain = [place for place, word in enumerate(words) if word.isalpha() and len(word) >= 4]
        return sorted(rng.sample(plain, min(len(plain), rng.randint(1, 3))))

    @staticmethod
    def with_document_words(
        words: list[str], positions: list[int], source: str, rng: random.Random
    ) -> str:
        """The summary with other words of the document at `positions`."""
        pool = sorted({word for word in source.split() if word.isalpha() and len(word) >= 4})
        corrupted = list(words)
        for place in positions:
            corrupted[place] = rng.choice(
                [word for word in pool if word.lower() != words[place].lower()]
            )
        return " ".join(corrupted)

    @torch.inference_mode()
    def with_model_words(self, words: list[str], positions: list[int]) -> str:
        """The summary with the model's best differing word at `positions`, one after the other."""
        corrupted = list(words)
        for place in positions:
            masked = [*corrupted[:place], self.tokenizer.mask_token, *corrupted[place + 1 :]]
            inputs = self.tokenizer(" ".join(masked), return_tensors="pt", truncation=True)
            position = int((inputs["input_ids"][0] == self.tokenizer.mask_token_id).nonzero()[0])
            logits = self.model(**inputs).logits[0, position]
            best = (self.vocabulary[token] for token in logits.argsort(descending=True)[:50])
            other = (word for word in best if word.isalpha() and word != words[place].lower())
            corrupted[place] = next(other, words[place])
        return " ".join(corrupted)


def make(corpus: Path, maker: str, out: Path, count: int, seed: int) -> None:
    """Writes the texts made from documents set aside, a row for each pseudo-summary."""
    rng, replacer = random.Random(seed), WordReplacer(maker)
    aside = map(shorten, documents(corpus, aside=True))
    usable = (source for source in aside if len(sentences_of(source)) >= 6)
    with out.open("w", encoding="utf-8") as stream:
        for source in islice(usable, count):
            sentences = sentences_of(source)
            first = rng.randrange(len(sentences) - 2)
            scattered = [sentences[i] for i in sorted(rng.sample(range(len(sentences)), 3))]
            for number in range(SUMMARIES):
                words = pseudo_summary(sentences, rng)
                positions = replacer.choose_positions(words, rng)
                row = {
                    "source": source,
                    CLEAN: " ".join(words),
                    "document word": replacer.with_document_words(words, positions, source, rng),
                    "model word": replacer.with_model_words(words, positions),
                }
                if not number:
                    consecutive = sentences[first : first + 3]
                    row["consecutive"] = " ".join(map(" ".join, consecutive))
                    row["scattered"] = " ".join(map(" ".join, scattered))
                stream.write(json.dumps(row) + "\n")


def read_injected(path: Path) -> Iterator[JudgedPair]:
    """What `make` wrote, as sets ``injected`` and ``extracts`` of the half for choices."""
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        for kind in (CLEAN, *INJECTED_KINDS, *EXTRACT_KINDS):
            if kind in row:
                of = "extracts" if kind in EXTRACT_KINDS else "injected"
                right, source = float(kind not in INJECTED_KINDS), row["source"]
                yield JudgedPair(of, CHOICE, source, kind, row[kind], source, right)


def token_counts(explanation: Explanation, spans: Sequence[str]) -> list[int]:
    """`TOKENS`: checked tokens of a summary, those with an alarm, and of both those within a span
    that annotators marked."""
    inside = np.zeros(len(explanation.prediction) + 1, bool)
    for span in filter(None, spans):
        for match in re.finditer(re.escape(span), explanation.prediction):
            inside[match.start() : match.end()] = True
    checked = [unit for unit in explanation.units if unit.verdict != "absent"]
    alarm = np.array([unit.verdict == "alarm" for unit in checked], bool)
    marked = np.array([inside[unit.start : unit.end].any() for unit in checked], bool)
    return [len(checked), int(alarm.sum()), int(marked.sum()), int((alarm & marked).sum())]


def score(
    pairs: Sequence[JudgedPair], places: Sequence[int], half: str, config: EstimeConfig, out: Path
) -> None:
    """Writes the counts of some pairs at every layer, arrays of shape (layers, places), into a file."""
    scorer = EstimeScorer(config, cache=2 * 10**9)
    scored = [pairs[place] for place in places]
    result = scorer.score(
        [pair.summary for pair in scored], [pair.source for pair in scored], progress=True
    )
    layers = result.layers
    counts = {name: np.stack([result.values(name, k).numpy() for k in layers]) for name in COUNTED}
    counts |= {name: np.zeros_like(counts["tokens"]) for name in TOKENS}
    of_cliff = [number for number, pair in enumerate(scored) if pair.of == "cliff"]
    summaries = [scored[number].summary for number in of_cliff]
    sources = [scored[number].source for number in of_cliff]
    for row, layer in enumerate(layers):
        explained = scorer.explain_pairs(summaries, sources, layer=layer)
        for number, explanation in zip(of_cliff, explained, strict=True):
            of_pair = token_counts(explanation, scored[number].spans)
            for name, value in zip(TOKENS, of_pair, strict=True):
                counts[name][row, number] = value
    out.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {"places": places, "layers": layers, "half": half, **counts}
    np.savez_compressed(out.with_suffix(".npz"), signature=result.signature, **arrays)


class Candidate:
    """What `score` wrote of one encoder."""

    def __init__(self, file: Path, pairs: Sequence[JudgedPair], resamples: int = RESAMPLES) -> None:
        stored = np.load(file.with_suffix(".npz"))
        self.name = file.stem
        self.layers: list[int] = stored["layers"].tolist()
        scored = [pairs[place] for place in stored["places"]]
        self.sets = sets_of(scored, str(stored["half"]), resamples)
        self._counts = {name: stored[name] for name in (*COUNTED, *TOKENS)}

    def figures(self, layer: int) -> dict[str, Floats]:
        """The figures of a layer, of the pairs and of each resample of their documents, the same for
        every candidate; float64 of shape (1 + resamples,), higher is better.
        """
        row = self.layers.index(layer)
        counts = {name: values[row].astype(np.float64) for name, values in self._counts.items()}
        counts["unsupported"] = counts["alarms"] + counts["tokens"] - counts["overlap"]
        counts["rate"] = counts["unsupported"] / np.maximum(counts["tokens"], 1)
        of_sets = {
            name: FIGURES[name](
                judged, {name: values[judged.rows] for name, values in counts.items()}
            )
            for name, judged in self.sets.items()
        }
        return of_sets | {"words": _words(self.sets["cliff"], counts)}


def _injected(judged: JudgedSet, counts: Mapping[str, Floats]) -> Floats:
    """How well alarms separate, mean over the two ways to inject errors."""
    alarms = counts["alarms"]
    mean: Floats = np.mean(
        [judged.separation(-alarms, CLEAN, kind) for kind in INJECTED_KINDS], axis=0
    )
    return mean


def _extracts(judged: JudgedSet, counts: Mapping[str, Floats]) -> Floats:
    """Minus ten times the share of tokens with an alarm, mean over the two kinds."""
    shares = [judged.share(counts["alarms"], counts["tokens"], kind) for kind in EXTRACT_KINDS]
    mean: Floats = -10 * np.mean(shares, axis=0)
    return mean


def _bump(judged: JudgedSet, counts: Mapping[str, Floats]) -> Floats:
    """How much more pairs have fewer graded alarms in the reference than not, from -1 to 1."""
    return 2 * judged.consistency(-counts["graded_alarms"]) - 1


def _frank(judged: JudgedSet, counts: Mapping[str, Floats]) -> Floats:
    """The mean partial correlation with factuality, of three measures by two methods."""
    correlations = [
        judged.partial(-counts[name], method)
        for name in ("alarms", "unsupported", "rate")
        for method in ("pearson", "spearman")
    ]
    mean: Floats = np.mean(correlations, axis=0)
    return mean


def _cliff(judged: JudgedSet, counts: Mapping[str, Floats]) -> Floats:
    """How well two measures separate on the two datasets."""
    separations = [
        judged.separation(-counts[name], origin)
        for origin in ORIGINS
        for name in ("alarms", "rate")
    ]
    mean: Floats = np.mean(separations, axis=0)
    return mean


def _summeval(judged: JudgedSet, counts: Mapping[str, Floats]) -> Floats:
    """The mean of Spearman's rho with each quality."""
    qualities = np.array([pair.qualities for pair in judged.pairs])
    mean: Floats = np.mean(
        [judged.rank_correlation(-counts["alarms"], column) for column in qualities.T], axis=0
    )
    return mean


def _words(cliff: JudgedSet, counts: Mapping[str, Floats]) -> Floats:
    """A quarter of the logarithm, to base 2, of the lift of alarms on marked tokens."""
    sums = {name: cliff.weights @ counts[name][cliff.rows] for name in TOKENS}
    precision = np.maximum(sums["marked_flagged"], 1) / np.maximum(sums["flagged"], 1)
    lift: Floats = np.log2(precision / (sums["marked"] / sums["checked"])) / 4
    return lift


#: Set -> its figure; experiments/training/README.md has the rule. CLIFF also has `_words`.
FIGURES = {
    "injected": _injected,
    "extracts": _extracts,
    "bump": _bump,
    "frank": _frank,
    "cliff": _cliff,
    "summeval": _summeval,
}


def rank(candidates: Sequence[Candidate]) -> None:
    """Prints the figures of each layer, and compares the best layers with the first candidate's."""
    best: dict[str, Floats] = {}
    for candidate in candidates:
        means = {}
        for layer in candidate.layers:
            figures = candidate.figures(layer)
            means[layer] = np.mean(list(figures.values()), axis=0)
            cells = ", ".join(f"{name} {values[0]:.4f}" for name, values in figures.items())
            print(f"{candidate.name}, layer {layer}: {cells}; mean {means[layer][0]:.4f}")
        layer = max(means, key=lambda layer: means[layer][0])
        best[f"{candidate.name}, layer {layer}"] = means[layer]
    first = next(iter(best.values()))
    for name, mean in best.items():
        less = mean - first
        print(
            f"{name}: mean {_shown(mean)}, less the first {_shown(less)}, "
            f"mean difference {np.nanmean(less[1:]):+.4f}, standard error {np.nanstd(less[1:], ddof=1):.4f}"
        )


def _shown(values: Floats) -> str:
    number = with_interval(values)
    return f"{number['value']:.4f} [{number['low']:.3f}, {number['high']:.3f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line; ``arguments`` replace the arguments of the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="put errors into documents set aside")
    making.add_argument("corpus", type=Path, help="folder of *.jsonl.gz files, as for train.py")
    making.add_argument("maker", help="encoder with a prediction head, which finds wrong words")
    making.add_argument("out", type=Path)
    making.add_argument("--documents", type=int, default=100, help="documents to use")
    making.add_argument("--seed", type=int, default=0)
    scoring = commands.add_parser("score", help="measure one candidate")
    scoring.add_argument("folder", help="folder of the encoder, or the name of a bundled one")
    ranking = commands.add_parser("rank", help="apply the rule")
    for command in (scoring, ranking):
        command.add_argument("injected", type=Path, help="what `make` wrote")
        command.add_argument("data", type=Path, help="folder with bump, frank, cliff and summeval")
    scoring.add_argument("-o", "--out", type=Path, required=True)
    scoring.add_argument("--layers", type=int, nargs="+", help="default: all")
    scoring.add_argument("--distance", type=int, default=2)
    scoring.add_argument("--dtype", default="float32")
    scoring.add_argument("--every", type=int, default=1, help="use only every N-th source")
    scoring.add_argument("--half", choices=HALVES, default=CHOICE)
    ranking.add_argument(
        "files", type=Path, nargs="+", help="what `score` wrote; the first is compared with"
    )
    options = parser.parse_args(arguments)
    if options.command == "make":
        make(options.corpus, options.maker, options.out, options.documents, options.seed)
        return
    pairs = [*read_injected(options.injected), *read_pairs(options.data)]
    if options.command == "rank":
        rank([Candidate(file, pairs) for file in options.files])
        return
    places = [
        place
        for place, pair in enumerate(pairs)
        if pair.half == options.half and zlib.crc32(pair.source.encode()) % options.every == 0
    ]
    config = EstimeConfig(
        model=options.folder,
        layers=tuple(options.layers or ()) or "all",
        distance=options.distance,
        dtype=options.dtype,
    )
    score(pairs, places, options.half, config, options.out)


if __name__ == "__main__":
    main()
