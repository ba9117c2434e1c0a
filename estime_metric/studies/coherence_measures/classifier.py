"""The coherence classifier: an encoder fine-tuned to distinguish a text from the same text
shuffled.

Steen & Markert 2022, section 5 (CCL) and appendix A.6, after Laban et al. 2021: one classifier for
all texts, so that texts of different lengths can be compared (section 7.4). The score of a text is
the log-odds of its being in the original order: any real number, higher is more coherent, 0 if both
are as likely.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    get_linear_schedule_with_warmup,
)

from estime_metric.checks import check_texts
from estime_metric.engine.encoder.device import choose_device, inference_context
from estime_metric.engine.encoder.folder import is_bundled
from estime_metric.engine.encoder.foreign import load_pretrained, longest_input
from estime_metric.studies.coherence_measures import batches_by_length, check_lengths
from estime_metric.studies.meta.shuffle import shuffle_text, split_sentences
from estime_metric.table.arrays import Floats

#: Which logit is which: the first class is the shuffled text.
SHUFFLED, ORIGINAL = 0, 1


class CoherenceClassifier:
    """Scores texts by the log-odds of their being in order. ``model`` is a folder or Hub name of a
    classifier that `save` wrote; or of an encoder (such as ``"embedded-small"``), which then gets a
    new head that has to be trained; see ``trained``. ``device`` and ``truncate`` are as in
    `bartscore.bart_scores`. Raises OSError if the model cannot be loaded."""

    def __init__(
        self, model: str | Path, *, device: str | None = None, truncate: bool = False
    ) -> None:
        self.truncate = truncate
        with TemporaryDirectory() as folder:
            source = str(model)
            if is_bundled(source):
                load_pretrained(source, None, torch.float32).save(folder)
                source = folder
            self.tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
            self.model, report = AutoModelForSequenceClassification.from_pretrained(
                source,
                num_labels=2,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        self.trained = not report["missing_keys"]
        self.model.to(choose_device(device)).eval()
        self.limit = longest_input(self.model.base_model)

    def score(self, texts: Sequence[str], batch_size: int = 32) -> Floats:
        """The log-odds of each text's being in its original order, float64 of shape (n,), higher is
        more coherent; ``batch_size`` changes no more than rounding. ValueError for a text that is
        too long without ``truncate``."""
        if not self.truncate:
            check_lengths("texts", texts, self.tokenizer, self.limit)
        scores = np.full(len(texts), np.nan)
        self.model.eval()
        for batch in batches_by_length(texts, batch_size):
            with inference_context(self.model.device):
                logits = self.model(**self.inputs([texts[index] for index in batch])).logits
            odds = logits.double()  # (b, 2)
            scores[batch] = (odds[:, ORIGINAL] - odds[:, SHUFFLED]).cpu()
        return scores

    def save(self, folder: str | Path) -> None:
        """Writes weights (safetensors), configuration and tokenizer; the folder is a ``model``."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def inputs(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Ids and attention mask of some texts, padded to the longest, on the device."""
        cut = {"truncation": True, "max_length": self.limit} if self.limit is not None else {}
        encoded = self.tokenizer(list(texts), padding=True, return_tensors="pt", **cut)
        names = ("input_ids", "attention_mask")
        return {name: encoded[name].to(self.model.device) for name in names}


def shuffled_pairs(
    texts: Sequence[str], shuffles: int = 1, seed: int = 0
) -> list[tuple[str, list[str]]]:
    """Each text that can be shuffled, with the given number of shuffled forms, some of them equal
    if it has few orders. Its sentences are joined in the same way as the shuffled ones, so that
    only their order differs."""
    pairs = []
    for index, text in enumerate(texts):
        forms = [shuffle_text(text, (seed, index, number)) for number in range(shuffles)]
        if forms[:1] != [text]:
            joint = "\n" if "\n" in text.strip() else " "
            pairs.append((joint.join(split_sentences(text)), forms))
    return pairs


def train_classifier(
    texts: Sequence[str],
    model: str | Path,
    *,
    epochs: int = 6,
    learning_rate: float = 2e-6,
    batch_size: int = 8,
    shuffles: int = 1,
    validation: float = 0.1,
    seed: int = 0,
    device: str | None = None,
    truncate: bool = False,
    on_epoch: Callable[[int, float, float], object] = lambda *_: None,
) -> CoherenceClassifier:
    """Trains a coherence classifier on texts and their shuffled forms; returns the classifier of
    the best epoch. The defaults are the paper's if it states them (appendix A.6).

    On the CPU the same seed gives the same classifier, and the caller's random numbers are not used.

    Args:
        texts: coherent ones; those with fewer than two sentences are excluded.
        model, device, truncate: as in `CoherenceClassifier`.
        epochs, learning_rate, batch_size: of AdamW; the learning rate falls linearly to zero.
        shuffles: shuffled forms of each text, drawn once (1 for CNN/DailyMail, 20 for WSJ).
        validation: the fraction of the texts held out to choose the best epoch by F1 of the
            originals; 0 keeps the last epoch.
        seed: of the shuffles, the split, the order, the new head and the dropout.
        on_epoch: called after each epoch with its number from 1, the mean loss in training, and F1 of
            the held-out texts (NaN without).

    Raises TypeError, and ValueError if fewer than two texts can be shuffled or one is too long for the
    encoder.
    """
    pairs = shuffled_pairs(check_texts("texts", texts), shuffles, seed)
    if len(pairs) < 2:
        raise ValueError(
            f"Expected argument `texts` to contain two texts that can be shuffled, but got {len(pairs)}."
        )
    rng = random.Random(seed)
    rng.shuffle(pairs)
    held = min(round(validation * len(pairs)), len(pairs) - 1)
    training = [(text, ORIGINAL) for text, _ in pairs[held:]]
    training += [(form, SHUFFLED) for _, forms in pairs[held:] for form in forms]
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        classifier = CoherenceClassifier(model, device=device, truncate=truncate)
        if not truncate:
            every = [text for text, _ in training]
            check_lengths("texts", every, classifier.tokenizer, classifier.limit)
        network = classifier.model
        optimizer = torch.optim.AdamW(network.parameters(), lr=learning_rate)
        steps = epochs * -(-len(training) // batch_size)
        schedule = get_linear_schedule_with_warmup(optimizer, 0, steps)
        best: tuple[float, Any] = (-1.0, None)
        for epoch in range(1, epochs + 1):
            rng.shuffle(training)
            network.train()
            total = 0.0
            for start in range(0, len(training), batch_size):
                batch, classes = zip(*training[start : start + batch_size], strict=True)
                labels = torch.tensor(classes, device=network.device)
                loss = network(**classifier.inputs(batch), labels=labels).loss
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                total += float(loss.detach()) * len(batch)
            f1 = _f1(classifier, pairs[:held])
            on_epoch(epoch, total / len(training), f1)
            if f1 > best[0]:
                best = f1, deepcopy(network.state_dict())
    if best[1] is not None:
        network.load_state_dict(best[1])
    network.eval()
    classifier.trained = True
    return classifier


def _f1(classifier: CoherenceClassifier, pairs: Sequence[tuple[str, list[str]]]) -> float:
    """F1 of the originals; NaN without pairs."""
    if not pairs:
        return float("nan")
    originals = classifier.score([original for original, _ in pairs]) > 0
    shuffled = classifier.score([form for _, forms in pairs for form in forms]) > 0
    hits, wrong = int(originals.sum()), int(shuffled.sum())
    return 2 * hits / (hits + wrong + len(originals))
