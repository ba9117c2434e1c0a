"""Choose weights and layer of a bundled encoder by several sets of judgements, by a rule written
down beforehand.

    python -m experiments.training.choose make CORPUS MAKER injected.jsonl
    python -m experiments.training.choose score FOLDER injected.jsonl DATA -o scores/NAME
    python -m experiments.training.choose rank injected.jsonl DATA scores/A scores/B ...
    python -m experiments.training.choose score FOLDER injected.jsonl DATA --half report -o report/NAME
    python -m experiments.training.choose rank injected.jsonl DATA report/A report/B ...

DATA has ``bump``, ``frank``, ``cliff`` and ``summeval``. The rule is in experiments/training/README.md. The half ``report``
has no injected errors and no extracts; nothing is chosen by it.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import torch
from cyclopts import App, Parameter

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.engine.encoder.loading import load_pretrained
from estime_metric.explanation import Explanation
from estime_metric.studies.benchmarks.shared.estime_paper import QUALITIES
from estime_metric.table.arrays import Floats
from experiments.benchmarks.aggrefact.data import ORIGINS
from experiments.training.data import documents
from experiments.training.judged import CHOICE, JudgedSet, read_pairs, sets_of, shown

DOCUMENTS = 100  # set aside, into which errors are put
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

app = App(name="python -m experiments.training.choose", help=__doc__, result_action="return_value")


# Texts with injected errors


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


def positions_to_replace(words: list[str], rng: random.Random) -> list[int]:
    """One to three positions of plain words, at least four letters long."""
    plain = [place for place, word in enumerate(words) if word.isalpha() and len(word) >= 4]
    return sorted(rng.sample(plain, min(len(plain), rng.randint(1, 3))))


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
def with_model_words(words: list[str], positions: list[int], model: Any, tokenizer: Any) -> str:
    """The summary with the model's best differing word at `positions`, one after the other."""
    corrupted = list(words)
    for place in positions:
        masked = [*corrupted[:place], tokenizer.mask_token, *corrupted[place + 1 :]]
        inputs = tokenizer(" ".join(masked), return_tensors="pt", truncation=True)
        position = int((inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])
        best = model(**inputs).logits[0, position].topk(50).indices
        candidates = tokenizer.convert_ids_to_tokens(best.tolist())
        other = (word for word in candidates if word.isalpha() and word != words[place].lower())
        corrupted[place] = next(other, words[place])
    return " ".join(corrupted)


@app.command
def make(corpus: Path, maker: str, out: Path) -> None:
    """Put errors into documents set aside, once for all candidates.

    Args:
        corpus: Folder of *.jsonl.gz files, as for train.
        maker: Encoder with a prediction head, which finds wrong words.
        out: A row for each pseudo-summary.
    """
    rng = random.Random(0)
    pretrained = load_pretrained(maker, None, torch.float32)
    model = pretrained.with_head().eval()
    aside = map(shorten, documents(corpus, aside=True))
    usable = (source for source in aside if len(sentences_of(source)) >= 6)
    with out.open("w", encoding="utf-8") as stream:
        for source in islice(usable, DOCUMENTS):
            sentences = sentences_of(source)
            first = rng.randrange(len(sentences) - 2)
            scattered = [sentences[i] for i in sorted(rng.sample(range(len(sentences)), 3))]
            for number in range(SUMMARIES):
                words = pseudo_summary(sentences, rng)
                positions = positions_to_replace(words, rng)
                row = {
                    "source": source,
                    CLEAN: " ".join(words),
                    "document word": with_document_words(words, positions, source, rng),
                    "model word": with_model_words(words, positions, model, pretrained.tokenizer),
                }
                if not number:
                    consecutive = sentences[first : first + 3]
                    row["consecutive"] = " ".join(map(" ".join, consecutive))
                    row["scattered"] = " ".join(map(" ".join, scattered))
                stream.write(json.dumps(row) + "\n")


def read_injected(path: Path) -> pd.DataFrame:
    """What `make` wrote, as sets ``injected`` and ``extracts`` of the half for choices; columns as
    those of `read_pairs`.
    """
    kinds = [CLEAN, *INJECTED_KINDS, *EXTRACT_KINDS]
    table = pd.read_json(path, lines=True, dtype=False)
    pairs = table.melt("source", kinds, var_name="group", value_name="summary").dropna()
    return pairs.assign(
        half=CHOICE,
        document=pairs["source"],
        set=np.where(pairs["group"].isin(EXTRACT_KINDS), "extracts", "injected"),
        judged=(~pairs["group"].isin(INJECTED_KINDS)).astype(float),
    )


def pairs_of(injected: Path, data: Path) -> pd.DataFrame:
    """All pairs of the rule."""
    return pd.concat([read_injected(injected), read_pairs(data)], ignore_index=True)


# Scores of a candidate


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


@app.command
def score(
    folder: str,
    injected: Path,
    data: Path,
    *,
    out: Annotated[Path, Parameter(alias="-o")],
    layers: list[int] | None = None,
    distance: int = 2,
    dtype: str = "float32",
    every: int = 1,
    half: Literal["choice", "report"] = "choice",
) -> None:
    """Score the pairs with one candidate at every layer.

    Args:
        folder: Folder of the encoder, or the name of a bundled one.
        injected: What `make` wrote.
        data: Folder with bump, frank, cliff and summeval.
        layers: All by default.
        every: Use only every N-th source.
    """
    pairs = pairs_of(injected, data)
    is_drawn = pairs["source"].map(lambda source: zlib.crc32(source.encode()) % every == 0)
    scored = pairs[(pairs["half"] == half) & is_drawn]
    config = EstimeConfig(
        model=folder, layers=tuple(layers or ()) or "all", distance=distance, dtype=dtype
    )
    scorer = EstimeScorer(config, cache=2 * 10**9)
    result = scorer.score(list(scored["summary"]), list(scored["source"]), progress=True)
    counts = {
        name: np.stack([result.values(name, layer).numpy() for layer in result.layers])
        for name in COUNTED
    }
    counts |= {name: np.zeros_like(counts["tokens"]) for name in TOKENS}
    in_cliff = scored["set"].to_numpy() == "cliff"
    cliff = scored[in_cliff]
    for row, layer in enumerate(result.layers):
        explained = scorer.explain_pairs(list(cliff["summary"]), list(cliff["source"]), layer=layer)
        counts_by_pair = [
            token_counts(*pair) for pair in zip(explained, cliff["spans"], strict=True)
        ]
        token_totals = np.array(counts_by_pair).reshape(-1, len(TOKENS))
        for name, values in zip(TOKENS, token_totals.T, strict=True):
            counts[name][row, in_cliff] = values
    out.parent.mkdir(parents=True, exist_ok=True)
    stored: dict[str, Any] = {"places": scored.index, "layers": result.layers, "half": half}
    stored |= {"signature": result.signature, **counts}
    np.savez_compressed(out.with_suffix(".npz"), **stored)


# The rule


class Candidate:
    """What `score` wrote of one encoder."""

    def __init__(self, file: Path, pairs: pd.DataFrame) -> None:
        stored = np.load(file.with_suffix(".npz"))
        self.name = file.stem
        self.layers: list[int] = stored["layers"].tolist()
        scored = pairs.loc[stored["places"]].reset_index(drop=True)
        self.sets = sets_of(scored, str(stored["half"]), RESAMPLES)
        self._counts = {name: stored[name] for name in (*COUNTED, *TOKENS)}

    def figures(self, layer: int) -> dict[str, Floats]:
        """The figures of a layer, of the pairs and of each resample of their documents, the same for
        every candidate; float64 of shape (1 + resamples,), higher is better.
        """
        row = self.layers.index(layer)
        counts = {name: values[row].astype(np.float64) for name, values in self._counts.items()}
        counts["unsupported"] = counts["alarms"] + counts["tokens"] - counts["overlap"]
        counts["rate"] = counts["unsupported"] / np.maximum(counts["tokens"], 1)
        return {
            figure: np.mean(
                FIGURES[figure](
                    judged, {name: values[judged.rows] for name, values in counts.items()}
                ),
                axis=0,
            )
            for figure, judged in (*self.sets.items(), ("words", self.sets["cliff"]))
        }


def _injected(judged: JudgedSet, counts: Mapping[str, Floats]) -> list[Floats]:
    """How well alarms separate, by both ways to inject errors."""
    return [judged.separation(-counts["alarms"], CLEAN, kind) for kind in INJECTED_KINDS]


def _extracts(judged: JudgedSet, counts: Mapping[str, Floats]) -> list[Floats]:
    """Minus ten times the share of tokens with an alarm, for both kinds."""
    return [-10 * judged.share(counts["alarms"], counts["tokens"], kind) for kind in EXTRACT_KINDS]


def _bump(judged: JudgedSet, counts: Mapping[str, Floats]) -> list[Floats]:
    """How much more pairs have fewer graded alarms in the reference than not, from -1 to 1."""
    return [2 * judged.consistency(-counts["graded_alarms"]) - 1]


def _frank(judged: JudgedSet, counts: Mapping[str, Floats]) -> list[Floats]:
    """The partial correlations of three measures with factuality by two methods."""
    return [
        judged.partial(-counts[name], method)
        for name in ("alarms", "unsupported", "rate")
        for method in ("pearson", "spearman")
    ]


def _cliff(judged: JudgedSet, counts: Mapping[str, Floats]) -> list[Floats]:
    """How well two measures separate on the two datasets."""
    return [
        judged.separation(-counts[name], origin)
        for origin in ORIGINS
        for name in ("alarms", "rate")
    ]


def _words(judged: JudgedSet, counts: Mapping[str, Floats]) -> list[Floats]:
    """A quarter of the logarithm, to base 2, of the lift of alarms on marked tokens."""
    sums = {name: judged.weights @ counts[name] for name in TOKENS}
    precision = np.maximum(sums["marked_flagged"], 1) / np.maximum(sums["flagged"], 1)
    return [np.log2(precision / (sums["marked"] / sums["checked"])) / 4]


def _summeval(judged: JudgedSet, counts: Mapping[str, Floats]) -> list[Floats]:
    """Spearman's rho with each quality."""
    return [
        judged.rank_correlation(-counts["alarms"], judged.pairs[name].to_numpy(dtype=np.float64))
        for name in QUALITIES
    ]


#: The values whose mean is a figure; experiments/training/README.md has the rule. ``words`` is also on CLIFF.
FIGURES = {
    "injected": _injected,
    "extracts": _extracts,
    "bump": _bump,
    "frank": _frank,
    "cliff": _cliff,
    "summeval": _summeval,
    "words": _words,
}


@app.command
def rank(injected: Path, data: Path, *files: Path) -> None:
    """Print the figures of each layer, their mean, and for the best layer of each candidate the mean
    and its difference from the first candidate's, both with intervals (paired bootstrap over
    documents).

    Args:
        injected: What `make` wrote.
        data: Folder with bump, frank, cliff and summeval.
        files: What `score` wrote; the first is compared with.
    """
    pairs = pairs_of(injected, data)
    best: dict[str, Floats] = {}
    for candidate in (Candidate(file, pairs) for file in files):
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
            f"{name}: mean {shown(mean)}, less the first {shown(less)}, "
            f"mean difference {np.nanmean(less[1:]):+.4f}, standard error {np.nanstd(less[1:], ddof=1):.4f}"
        )


if __name__ == "__main__":
    app()
