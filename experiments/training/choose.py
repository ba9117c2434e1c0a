"""Choose weights and layer of a bundled encoder by several sets of judgements, by a rule written
down beforehand.

    python -m experiments.training.choose make CORPUS MAKER injected.jsonl
    python -m experiments.training.choose score FOLDER injected.jsonl DATA -o scores/NAME
    python -m experiments.training.choose rank scores/A scores/B ...
    python -m experiments.training.choose score FOLDER injected.jsonl DATA --half test -o
    test/NAME python -m experiments.training.choose report test/A test/B ...

`make` puts errors into documents set aside, once for all candidates: `MAKER`, an encoder with a
prediction head, finds the wrong words. `score` measures one candidate at all layers; `DATA` has
``bump``, ``frank``, ``cliff`` and ``summeval``. `rank` prints seven figures of each layer, their
mean, and for the best layer of each candidate the difference from the first one's best with its
standard error (paired bootstrap over documents). The rule is in experiments/training/README.md. `report` prints
the results on the held-out splits, with intervals; nothing is chosen by it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import rankdata, spearmanr
from transformers import AutoModelForMaskedLM, AutoTokenizer

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.explanation import Explanation, UnitVerdict
from estime_metric.studies.benchmarks.bump import data as bump
from estime_metric.studies.benchmarks.frank.partial import partial_correlation
from experiments.training.data import documents

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

SOURCE_WORDS = 400  # documents are cut at the paragraph in which this many words are reached
LEADING_SENTENCES = 15  # sentences from which a pseudo-summary is drawn
SUMMARIES = 4  # pseudo-summaries of each document
#: Texts made from a document: summaries, the same with injected errors, and extracts.
INJECTED_KINDS = ("document word", "model word")
EXTRACT_KINDS = ("consecutive", "scattered")
KINDS = ("clean", *INJECTED_KINDS, *EXTRACT_KINDS)
CLIFF = ("cliff cnndm", "cliff xsum")
JUDGED = ("consistency", "relevance", "coherence", "fluency")  # of SummEval
FIRST_DOCUMENTS = 50  # of SummEval, for choosing; the other documents are kept for the report
RESAMPLES = 500
COUNTED = ("alarms", "graded_alarms", "overlap", "tokens")  # measures that are kept of each pair

#: One figure for each set of judgements, higher is better; experiments/training/README.md says what each is made
#: of.
FIGURES = ("injected", "extracts", "bump", "frank", "cliff", "words", "summeval")


def shorten(text: str) -> str:
    """The leading paragraphs of a document, until `SOURCE_WORDS` words are reached."""
    kept: list[str] = []
    for paragraph in text.split("\n"):
        kept.append(paragraph)
        if sum(len(p.split()) for p in kept) >= SOURCE_WORDS:
            break
    return " ".join(kept)


def sentences_of(source: str) -> list[list[str]]:
    """Words of the sentences of the first part that are neither short nor long."""
    sentences = [
        s.split() for s in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'])", source)[:LEADING_SENTENCES]
    ]
    return [words for words in sentences if 8 <= len(words) <= 40]


def pseudo_summary(sentences: Sequence[list[str]], rng: random.Random) -> list[str]:
    """Words of three of the sentences: half of them cut at a comma, one word in fifteen omitted."""
    words: list[str] = []
    for i in sorted(rng.sample(range(len(sentences)), 3)):
        sentence = sentences[i]
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
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.vocabulary = self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))

    @staticmethod
    def choose_positions(words: list[str], rng: random.Random) -> list[int]:
        """One to three positions of plain words, at least four letters long."""
        plain = [i for i, word in enumerate(words) if word.isalpha() and len(word) >= 4]
        return sorted(rng.sample(plain, min(len(plain), rng.randint(1, 3))))

    @staticmethod
    def with_document_words(
        words: list[str], positions: list[int], source: str, rng: random.Random
    ) -> str:
        """The summary with other words of the document at `positions`."""
        pool = sorted({word for word in source.split() if word.isalpha() and len(word) >= 4})
        corrupted = list(words)
        for index in positions:
            corrupted[index] = rng.choice(
                [word for word in pool if word.lower() != words[index].lower()]
            )
        return " ".join(corrupted)

    @torch.inference_mode()
    def with_model_words(self, words: list[str], positions: list[int]) -> str:
        """The summary with the model's best differing word at `positions`, one after the other."""
        corrupted = list(words)
        for index in positions:
            masked = [*corrupted[:index], self.tokenizer.mask_token, *corrupted[index + 1 :]]
            inputs = self.tokenizer(" ".join(masked), return_tensors="pt", truncation=True)
            position = int((inputs["input_ids"][0] == self.tokenizer.mask_token_id).nonzero()[0])
            for best in (
                self.model(**inputs).logits[0, position].argsort(descending=True)[:50].tolist()
            ):
                word = self.vocabulary[best]
                if word.isalpha() and word != words[index].lower():
                    corrupted[index] = word
                    break
        return " ".join(corrupted)


def make(corpus: Path, maker: str, out: Path, count: int, seed: int) -> None:
    """Write the texts made from documents set aside: `KINDS`, and the words that were replaced."""
    rng, replacer = random.Random(seed), WordReplacer(maker)
    with out.open("w") as stream:
        for text in islice(
            (t for t in documents(corpus, aside=True) if len(sentences_of(shorten(t))) >= 6), count
        ):
            source = shorten(text)
            sentences = sentences_of(source)
            first = rng.randrange(len(sentences) - 2)
            scattered = [sentences[i] for i in sorted(rng.sample(range(len(sentences)), 3))]
            for number in range(SUMMARIES):
                words = pseudo_summary(sentences, rng)
                positions = replacer.choose_positions(words, rng)
                row = {
                    "source": source,
                    "errors": len(positions),
                    "clean": " ".join(words),
                    "document word": replacer.with_document_words(words, positions, source, rng),
                    "model word": replacer.with_model_words(words, positions),
                }
                if not number:
                    row["consecutive"] = " ".join(
                        word for s in sentences[first : first + 3] for word in s
                    )
                    row["scattered"] = " ".join(word for s in scattered for word in s)
                stream.write(json.dumps(row) + "\n")


def read(path: Path) -> list[dict[str, object]]:
    """Records of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def rows_of(injected: Path, data: Path, half: str = "valid") -> list[dict[str, object]]:
    """Every pair that is scored: set, document, source, summary, and its label or judgements.

    The split ``test`` is held out from the rule; it has no injected errors, and SummEval's other
    documents.
    """
    rows: list[dict[str, object]] = []
    for record in read(injected) if half == "valid" else []:
        for kind in KINDS:
            if kind in record:
                rows.append({"set": kind, "source": record["source"], "summary": record[kind]})
    for row in bump.read(data / "bump", split=half).table.itertuples():
        label = int(row.system == bump.REFERENCE)
        pair = {"source": row.source, "summary": row.summary}
        rows.append({"set": "bump", **pair, "judged": [label]})
    texts = {r["doc_id"]: r["source"] for r in read(data / "frank" / "documents.jsonl")}
    for r in read(data / "frank" / "frank.jsonl"):
        if r["split"] == half:
            source = texts[r["doc_id"]]
            system = f"{r['dataset']} {r['system']}"
            rows.append(
                {
                    "set": "frank",
                    "source": source,
                    "system": system,
                    "judged": [r["factuality"]],
                    **_text(r),
                }
            )
    for r in read(data / "cliff" / "cliff.jsonl"):
        if r["split"] == {"valid": "val"}.get(half, half):
            rows.append(
                {
                    "set": f"cliff {r['dataset']}",
                    "source": r["source"],
                    "judged": [r["label"]],
                    **_text(r),
                }
            )
            rows[-1]["spans"] = r["spans"]
    part = slice(FIRST_DOCUMENTS) if half == "valid" else slice(FIRST_DOCUMENTS, None)
    texts = {r["doc_id"]: r["source"] for r in read(data / "summeval" / "documents.jsonl")[part]}
    for r in read(data / "summeval" / "summeval.jsonl"):
        if r["doc_id"] in texts:
            judged = [r[name] for name in JUDGED]
            rows.append(
                {"set": "summeval", "source": texts[r["doc_id"]], "judged": judged, **_text(r)}
            )
    return rows


def _text(record: dict[str, object]) -> dict[str, object]:
    return {"summary": record["summary"]}


class TokenCounts(NamedTuple):
    """Checked tokens, those with an alarm, and of both those within a span that annotators marked."""

    checked: float
    alarms: float
    marked: float
    marked_alarms: float


def marked_tokens(explanation: Explanation, spans: Sequence[str]) -> TokenCounts:
    """The tokens of one summary by verdict and by what annotators marked."""
    marked = np.zeros(len(explanation.prediction) + 1, bool)
    for span in filter(None, spans):
        for found in re.finditer(re.escape(span), explanation.prediction):
            marked[found.start() : found.end()] = True
    checked = [unit for unit in explanation.units if unit.verdict != "absent"]
    alarms = [unit for unit in checked if unit.verdict == "alarm"]

    def inside(units: Sequence[UnitVerdict]) -> int:
        return sum(bool(marked[unit.start : unit.end].any()) for unit in units)

    return TokenCounts(
        checked=len(checked),
        alarms=len(alarms),
        marked=inside(checked),
        marked_alarms=inside(alarms),
    )


def score(rows: list[dict[str, object]], out: Path, config: EstimeConfig) -> None:
    """Write counts of every pair at every layer into the folder `out`."""
    scorer = EstimeScorer(config, cache=2 * 10**9)
    predictions, sources = ([str(row[name]) for row in rows] for name in ("summary", "source"))
    result = scorer.score(predictions, sources, progress=True)
    layers = result.layers
    counts = {name: np.stack([result.values(name, k).numpy() for k in layers]) for name in COUNTED}
    of_cliff = [i for i, row in enumerate(rows) if str(row["set"]).startswith("cliff")]
    words = np.zeros((len(layers), len(rows), len(TokenCounts._fields)))
    for number, layer in enumerate(layers):
        shown = scorer.explain_pairs(
            [predictions[i] for i in of_cliff], [sources[i] for i in of_cliff], layer=layer
        )
        for i, explanation in zip(of_cliff, shown, strict=True):
            words[number, i] = marked_tokens(explanation, rows[i]["spans"])  # type: ignore[arg-type]
    out.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {"layers": np.array(layers), "words": words, **counts}
    np.savez_compressed(out / "counts.npz", **arrays)
    for row in rows:
        del row["summary"]
    (out / "rows.json").write_text(json.dumps({"signature": result.signature, "rows": rows}))


def roc_area(clean: Floats, wrong: Floats) -> float:
    """Area under the ROC curve: chance that a wrong one has the higher score, ties as one half."""
    ranks = rankdata(np.concatenate([wrong, clean]))[: len(wrong)]
    return float((ranks.sum() - len(wrong) * (len(wrong) + 1) / 2) / (len(wrong) * len(clean)))


@dataclass(frozen=True, eq=False)
class LayerCounts:
    """The counts of one layer: of each pair its alarms, graded alarms, tokens, alarms and absent
    tokens together (``unsupported``) and their ``share`` of the tokens; ``words``: its `TokenCounts`,
    in columns.
    """

    alarms: Floats
    graded_alarms: Floats
    tokens: Floats
    unsupported: Floats
    share: Floats
    words: Floats


class Candidate:
    """The counts of one candidate; figures of a layer, on all documents or on a resample of them."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        stored = np.load(folder / "counts.npz")
        self.layers: list[int] = stored["layers"].tolist()
        self.alarms, self.graded_alarms, self.overlap, self.tokens = (
            stored[name] for name in COUNTED
        )
        self.words = stored["words"]
        self.rows = json.loads((folder / "rows.json").read_text())["rows"]
        self.sets = np.array([row["set"] for row in self.rows])
        self.documents = {
            name: np.unique(
                [row["source"] for row in self.rows if row["set"] == name], return_inverse=True
            )[1]
            for name in dict.fromkeys(self.sets)
        }

    def figures(self, layer: int, rng: np.random.Generator | None = None) -> dict[str, float]:
        """The figures of a layer; with `rng` of documents drawn with replacement, the same for
        every candidate.

        Injected errors and extracts are excluded if none were scored.
        """
        k = self.layers.index(layer)
        unsupported = self.alarms[k] + self.tokens[k] - self.overlap[k]
        counts = LayerCounts(
            alarms=self.alarms[k],
            graded_alarms=self.graded_alarms[k],
            tokens=self.tokens[k],
            unsupported=unsupported,
            share=unsupported / np.maximum(self.tokens[k], 1),
            words=self.words[k],
        )
        drawn = {name: self._drawn(name, rng) for name in self.documents}
        made = {}
        if "clean" in drawn:
            made["injected"] = _injected(counts, drawn)
            made["extracts"] = _extracts(counts, drawn)
        return made | {
            "bump": self._bump(counts, drawn["bump"]),
            "frank": self._frank(counts, drawn["frank"]),
            "cliff": self._cliff(counts, drawn),
            "words": _words(counts, np.concatenate([drawn[name] for name in CLIFF])),
            "summeval": self._summeval(counts, drawn["summeval"]),
        }

    def _bump(self, counts: LayerCounts, rows: Indices) -> float:
        """How much more pairs have fewer graded alarms in the reference than not, from -1 to 1; rows
        of references and of edited summaries are in the same order.
        """
        is_reference = np.array([self.rows[i]["judged"] == [1] for i in rows])
        reference, edited = rows[is_reference], rows[~is_reference]
        fewer = counts.graded_alarms[reference] < counts.graded_alarms[edited]
        return float(2 * fewer.mean() - 1)

    def _frank(self, counts: LayerCounts, rows: Indices) -> float:
        """The mean partial correlation with factuality, of three measures by two methods."""
        errors = -np.array([self.rows[i]["judged"][0] for i in rows])
        systems = [self.rows[i]["system"] for i in rows]
        correlations = [
            partial_correlation(values[rows], errors, systems, method=method)
            for values in (counts.alarms, counts.unsupported, counts.share)
            for method in ("pearson", "spearman")
        ]
        return float(np.mean(correlations))

    def _cliff(self, counts: LayerCounts, drawn: Mapping[str, Indices]) -> float:
        """The mean area, from -1 to 1, of two measures on the two sets."""
        areas = []
        for name in CLIFF:
            label = np.array([self.rows[i]["judged"][0] for i in drawn[name]])
            for values in (counts.alarms, counts.share):
                good, wrong = drawn[name][label == 1], drawn[name][label == 0]
                areas.append(_area(values, clean=good, wrong=wrong))
        return float(np.mean(areas))

    def _summeval(self, counts: LayerCounts, rows: Indices) -> float:
        """The mean of Spearman's rho with each quality."""
        judged = np.array([self.rows[i]["judged"] for i in rows])
        rhos = [spearmanr(-counts.alarms[rows], column).statistic for column in judged.T]
        return float(np.mean(rhos))

    def _drawn(self, name: str, rng: np.random.Generator | None) -> npt.NDArray[np.int64]:
        rows = np.flatnonzero(self.sets == name)
        if rng is None:
            return rows
        owner = self.documents[name]
        size = int(owner.max()) + 1
        times = np.bincount(rng.integers(size, size=size), minlength=size)
        return np.repeat(rows, times[owner])


def _area(values: Floats, *, clean: Indices, wrong: Indices) -> float:
    """How much more often a wrong one has the higher value than a clean one, from -1 to 1."""
    return 2 * roc_area(values[clean], values[wrong]) - 1


def _injected(counts: LayerCounts, drawn: Mapping[str, Indices]) -> float:
    """The mean area of alarms over the two ways to inject errors."""
    areas = [
        _area(counts.alarms, clean=drawn["clean"], wrong=drawn[kind]) for kind in INJECTED_KINDS
    ]
    return float(np.mean(areas))


def _extracts(counts: LayerCounts, drawn: Mapping[str, Indices]) -> float:
    """Minus ten times the share of tokens with an alarm in extracts, mean over the two kinds."""
    shares = [
        counts.alarms[drawn[kind]].sum() / counts.tokens[drawn[kind]].sum()
        for kind in EXTRACT_KINDS
    ]
    return float(-10 * np.mean(shares))


def _words(counts: LayerCounts, rows: Indices) -> float:
    """A quarter of the logarithm, to base 2, of the lift of alarms on marked tokens."""
    sums = TokenCounts(*counts.words[rows].sum(axis=0))
    precision = max(sums.marked_alarms, 1) / max(sums.alarms, 1)
    return float(np.log2(precision / (sums.marked / sums.checked)) / 4)


def rank(candidates: Sequence[Candidate]) -> None:
    """Print the figures, and the difference of each candidate's best layer from the first one's."""
    print(
        f"{'candidate':<24}{'layer':>6}"
        + "".join(f"{name:>10}" for name in FIGURES)
        + f"{'mean':>9}"
    )
    best: list[Callable[[np.random.Generator], float]] = []
    for candidate in candidates:
        means = {}
        for layer in candidate.layers:
            figures = candidate.figures(layer)
            means[layer] = float(np.mean(list(figures.values())))
            cells = "".join(f"{figures[name]:>10.4f}" for name in FIGURES)
            print(f"{candidate.name:<24}{layer:>6}{cells}{means[layer]:>9.4f}")
        chosen = max(means, key=lambda layer: means[layer])
        best.append(partial(_mean, candidate, chosen))
        print(f"{candidate.name}: layer {chosen}, mean {means[chosen]:.4f}")
    if len(candidates) > 1:
        drawn = np.array(
            [[mean(np.random.default_rng(seed)) for mean in best] for seed in range(RESAMPLES)]
        )
        for candidate, column in zip(candidates[1:], drawn.T[1:], strict=True):
            gain = column - drawn[:, 0]
            defined = gain[
                ~np.isnan(gain)
            ]  # where few documents are measured, a resample may lack a class of labels
            print(
                f"{candidate.name} less {candidates[0].name}: {defined.mean():+.4f}, "
                f"standard error {defined.std(ddof=1):.4f}, {len(defined)} resamples"
            )


def report(candidates: Sequence[Candidate]) -> None:
    """Print the figures of the held-out split with 95% intervals, and the differences of the means.

    One layer of each candidate; the first one is compared with.
    """
    first: list[float] = []
    for candidate in candidates:
        layer = candidate.layers[0]
        drawn = [
            candidate.figures(layer, rng)
            for rng in (None, *map(np.random.default_rng, range(RESAMPLES)))
        ]
        means = [float(np.mean(list(figures.values()))) for figures in drawn]
        first = first or means
        columns = {name: [figures[name] for figures in drawn] for name in drawn[0]} | {
            "mean": means
        }
        columns |= {"difference": [mean - other for mean, other in zip(means, first, strict=True)]}
        print(f"{candidate.name}, layer {layer}")
        for name, values in columns.items():
            low, high = np.nanpercentile(values[1:], [2.5, 97.5])
            print(f"    {name:<10}{values[0]:>8.4f}  [{low:.3f}, {high:.3f}]")


def _mean(candidate: Candidate, layer: int, rng: np.random.Generator) -> float:
    return float(np.mean(list(candidate.figures(layer, rng).values())))


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
    scoring.add_argument("folder", help="folder of the encoder")
    scoring.add_argument("injected", type=Path, help="what `make` wrote")
    scoring.add_argument("data", type=Path, help="folder with bump, frank, cliff and summeval")
    scoring.add_argument("-o", "--out", type=Path, required=True)
    scoring.add_argument("--layers", type=int, nargs="+", help="default: all")
    scoring.add_argument("--distance", type=int, default=2)
    scoring.add_argument("--dtype", default="float32")
    scoring.add_argument("--every", type=int, default=1, help="use only every N-th source")
    scoring.add_argument(
        "--half", choices=["valid", "test"], default="valid", help="what is chosen by, or the rest"
    )
    ranking = commands.add_parser("rank", help="apply the rule")
    ranking.add_argument(
        "folders", type=Path, nargs="+", help="what `score` wrote; the first is compared with"
    )
    reporting = commands.add_parser("report", help="print the figures of the held-out split")
    reporting.add_argument("folders", type=Path, nargs="+", help="what `score --half test` wrote")
    args = parser.parse_args(arguments)
    if args.command == "make":
        make(args.corpus, args.maker, args.out, args.documents, args.seed)
    elif args.command == "score":
        layers = tuple(args.layers) if args.layers else "all"
        config = EstimeConfig(
            model=args.folder, layers=layers, distance=args.distance, dtype=args.dtype
        )
        rows = rows_of(args.injected, args.data, args.half)
        kept = [row for row in rows if zlib.crc32(str(row["source"]).encode()) % args.every == 0]
        score(kept, args.out, config)
    else:
        (rank if args.command == "rank" else report)([Candidate(folder) for folder in args.folders])


if __name__ == "__main__":
    main()
