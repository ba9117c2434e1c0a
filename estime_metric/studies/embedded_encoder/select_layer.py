"""Choose the layer of an encoder by errors put into pseudo-summaries of documents that were set aside.

    python -m estime_metric.studies.embedded_encoder.select_layer CORPUS FOLDER

From each document three sentences of its first part are taken, cut and thinned: a clean pseudo-summary; three times,
each time with other sentences. Two corrupted copies follow, with one to three words replaced: by another word of the
document, or by the encoder's best prediction that differs from the word (as in section 4 of the ESTIME paper). ESTIME
(unit token, window 450, margin 50, distance 8) counts the alarms of all three. Printed per layer, for both kinds of
errors: the area under the ROC curve with which the number of alarms tells corrupted from clean (all pooled), the mean
rise of alarms, and the share of pseudo-summaries whose corrupted copy has more alarms less the share in which it has
fewer. The layer with the highest mean area is the choice.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from scipy.stats import rankdata
from transformers import AutoModelForMaskedLM, AutoTokenizer

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.studies.embedded_encoder.data import continuations, documents, load_tokenizer, tokenize
from estime_metric.studies.embedded_encoder.train import measure

SOURCE_WORDS = 400  # documents are cut at the paragraph in which this many words are reached
LEADING_SENTENCES = 15  # sentences from which the three are drawn
SUMMARIES_PER_DOCUMENT = 3  # pseudo-summaries of each document
REPLACEMENTS = ("document word", "model word")


def shorten(text: str) -> str:
    """The leading paragraphs of a document, until `SOURCE_WORDS` words are reached."""
    kept: list[str] = []
    for paragraph in text.split("\n"):
        kept.append(paragraph)
        if sum(len(p.split()) for p in kept) >= SOURCE_WORDS:
            break
    return " ".join(kept)


def pseudo_summary(source: str, rng: random.Random) -> list[str] | None:
    """Words of three sentences of the first part: half of them cut at a comma, one word in fifteen left out."""
    sentences = [s.split() for s in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'])", source)[:LEADING_SENTENCES]]
    usable = [i for i, words in enumerate(sentences) if 8 <= len(words) <= 40]
    if len(usable) < 3:
        return None
    words: list[str] = []
    for i in sorted(rng.sample(usable, 3)):
        sentence = sentences[i]
        commas = [k for k, word in enumerate(sentence) if word.endswith(",") and k >= 6]
        if commas and rng.random() < 0.5:
            end = rng.choice(commas)
            sentence = [*sentence[:end], sentence[end].rstrip(",") + "."]
        words += [word for k, word in enumerate(sentence) if k in (0, len(sentence) - 1) or rng.random() > 1 / 15]
    return words


class WordReplacer:
    """Replaces words of a summary: by words of its document, or by predictions of a masked language model."""

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
    def with_document_words(words: list[str], positions: list[int], source: str, rng: random.Random) -> str:
        """The summary with other words of the document at `positions`."""
        pool = sorted({word for word in source.split() if word.isalpha() and len(word) >= 4})
        corrupted = list(words)
        for index in positions:
            corrupted[index] = rng.choice([word for word in pool if word.lower() != words[index].lower()])
        return " ".join(corrupted)

    @torch.inference_mode()
    def with_model_words(self, words: list[str], positions: list[int]) -> str:
        """The summary with the model's best differing word at `positions`, one after the other."""
        corrupted = list(words)
        for index in positions:
            masked = [*corrupted[:index], self.tokenizer.mask_token, *corrupted[index + 1 :]]
            inputs = self.tokenizer(" ".join(masked), return_tensors="pt", truncation=True)
            position = int((inputs["input_ids"][0] == self.tokenizer.mask_token_id).nonzero()[0])
            for best in self.model(**inputs).logits[0, position].argsort(descending=True)[:50].tolist():
                word = self.vocabulary[best]
                if word.isalpha() and word != words[index].lower():
                    corrupted[index] = word
                    break
        return " ".join(corrupted)


def roc_area(clean: Sequence[float], corrupted: Sequence[float]) -> float:
    """Area under the ROC curve: chance that a corrupted summary has more alarms than a clean one, ties half."""
    ranks = rankdata([*corrupted, *clean])[: len(corrupted)]
    return float((ranks.sum() - len(corrupted) * (len(corrupted) + 1) / 2) / (len(corrupted) * len(clean)))


def report_accuracy(corpus: Path, folder: Path) -> None:
    """Print loss and accuracy of the prediction head on the documents set aside."""
    tokenizer = load_tokenizer(folder)
    texts = [ids for ids in tokenize(documents(corpus, aside=True), tokenizer) if len(ids) >= 254][:200]
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    loss, tokens, words = measure(model, texts, continuations(tokenizer))
    print(f"masked words, 15%, {len(texts)} documents: loss {loss:.4f}, tokens {tokens:.4f}, words {words:.4f}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="folder of *.jsonl.gz files, as for train.py")
    parser.add_argument("folder", type=Path, help="folder of the encoder")
    parser.add_argument("--documents", type=int, default=200, help="documents to take")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    report_accuracy(args.corpus, args.folder)

    rng = random.Random(args.seed)
    replacer = WordReplacer(str(args.folder))
    predictions: list[str] = []
    sources: list[str] = []
    for text in islice(documents(args.corpus, aside=True), args.documents):
        source = shorten(text)
        for words in filter(None, (pseudo_summary(source, rng) for _ in range(SUMMARIES_PER_DOCUMENT))):
            positions = replacer.choose_positions(words, rng)
            corrupted = [
                replacer.with_document_words(words, positions, source, rng),
                replacer.with_model_words(words, positions),
            ]
            predictions += [" ".join(words), *corrupted]
            sources += 3 * [source]

    layers = tuple(range(replacer.model.config.num_hidden_layers + 1))
    config = EstimeConfig(model=str(args.folder), layers=layers)
    result = EstimeScorer(config).score(predictions, sources, progress=True)
    print(result.signature)
    print(f"{len(sources) // 3} pseudo-summaries of {len(set(sources))} documents")
    print("area / rise of alarms / more less fewer, by the kind of replacement:")
    print(f"{'layer':>5} {'clean':>6} {REPLACEMENTS[0]:>22} {REPLACEMENTS[1]:>22} {'mean area':>10}")
    means: dict[int, float] = {}
    for layer in layers:
        alarms = result.values("alarms", layer).numpy().reshape(-1, 3)  # (pseudo-summaries, clean + kinds)
        clean = alarms[:, 0]
        areas = [roc_area(clean.tolist(), alarms[:, k].tolist()) for k in (1, 2)]
        cells = [
            f"{areas[k - 1]:.4f} / {(alarms[:, k] - clean).mean():5.3f} / {np.sign(alarms[:, k] - clean).mean():.3f}"
            for k in (1, 2)
        ]
        means[layer] = sum(areas) / 2
        print(f"{layer:>5} {clean.mean():>6.2f} {cells[0]:>22} {cells[1]:>22} {means[layer]:>10.4f}")
    print(f"chosen: layer {max(means, key=lambda layer: means[layer])}")


if __name__ == "__main__":
    main()
