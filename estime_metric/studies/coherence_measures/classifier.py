"""The coherence classifier: an encoder fine-tuned to distinguish a text from the same text
shuffled.

Steen & Markert 2022, section 5 (CCL) and appendix A.6, after Laban et al. 2021: one classifier for
all texts, so that texts of different lengths can be compared (section 7.4). The score of a text is
the log-odds of its being in the original order: any real number, higher is more coherent, 0 if both
are as likely.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    get_linear_schedule_with_warmup,
)

from estime_metric import embedded
from estime_metric.checks import check_texts, integer
from estime_metric.engine.encoder.loading import load_pretrained, longest_input, quiet
from estime_metric.engine.encoder.masked import choose_device
from estime_metric.engine.encoder.precision import inference_context
from estime_metric.studies.coherence_measures import token_ids
from estime_metric.studies.meta.shuffle import shuffle_text, split_sentences

#: Which logit is which: the first class is the shuffled text.
SHUFFLED, ORIGINAL = 0, 1


@dataclass(frozen=True)
class TrainingOptions:
    """Options of `train_classifier`; the defaults are the paper's if it states them (appendix A.6).

    ``learning_rate`` is the learning rate of AdamW, falling linearly to zero. A step uses
    ``batch_size`` texts, originals and shuffled ones mixed; the ``shuffles`` of each text are drawn
    once (1 for CNN/DailyMail, 20 for WSJ). ``validation`` is the fraction of the texts held out to
    choose the best epoch by F1 of the originals; 0 keeps the last epoch. The ``seed`` determines
    the shuffles, the split, the order, the new head and the dropout.
    """

    epochs: int = 6
    learning_rate: float = 2e-6
    batch_size: int = 8
    shuffles: int = 1
    validation: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "shuffles"):
            integer(name, getattr(self, name), 1)
        if not self.learning_rate > 0:
            raise ValueError(
                f"Expected argument `learning_rate` to be positive, but got {self.learning_rate}."
            )
        if not 0 <= self.validation < 1:
            raise ValueError(
                f"Expected argument `validation` to be at least 0 and below 1, but got {self.validation}."
            )


class CoherenceClassifier:
    """Scores texts by the log-odds of their being in order. ``model`` is a folder or Hub name of a
    classifier that `save` wrote; or of an encoder (such as ``"embedded-small"``), which then gets a
    new head from ``seed`` that has to be trained; see ``trained``. ``device`` and ``truncate`` are
    as in `BartScore`. Raises OSError if the model cannot be loaded, ValueError if a weight of the
    encoder is missing."""

    def __init__(
        self, model: str | Path, *, device: str | None = None, truncate: bool = False, seed: int = 0
    ) -> None:
        self.device = choose_device(device)
        self.truncate = truncate
        with TemporaryDirectory() as folder:
            source = str(model)
            if source in embedded.PATHS:
                load_pretrained(source, None, torch.float32).save(folder)
                source = folder
            self.tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
            self.model, self.trained = _load(source, seed)
        self.model.to(self.device).eval()
        self.limit = longest_input(self.model.base_model)

    def score(self, texts: Sequence[str], batch_size: int = 32) -> NDArray[np.float64]:
        """The log-odds of each text's being in its original order, float64 of shape (n,), higher is
        more coherent; ``batch_size`` changes no more than rounding. ValueError for a text that is
        too long without ``truncate``."""
        rows = self.encode(texts)
        scores = np.full(len(rows), np.nan)
        order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
        self.model.eval()
        for start in range(0, len(order), batch_size):
            indices = order[start : start + batch_size]
            with inference_context(self.device):
                logits = self.model(
                    **self.batch([rows[index] for index in indices])
                ).logits.double()  # (b, 2)
            scores[indices] = (logits[:, ORIGINAL] - logits[:, SHUFFLED]).cpu().numpy()
        return scores

    def save(self, folder: str | Path) -> None:
        """Writes weights (safetensors), configuration and tokenizer; the folder is a ``model`` to
        start from.
        """
        with quiet():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, special tokens included; errors as for `score`."""
        return token_ids("texts", texts, self.tokenizer, self.limit, self.truncate)

    def batch(self, rows: Sequence[Sequence[int]]) -> dict[str, torch.Tensor]:
        """Ids and attention mask of some texts, padded to the longest, on the device."""
        padded = self.tokenizer.pad({"input_ids": [list(row) for row in rows]}, return_tensors="pt")
        return {name: padded[name].to(self.device) for name in ("input_ids", "attention_mask")}


def shuffled_pairs(
    texts: Sequence[str], shuffles: int = 1, seed: int = 0
) -> list[tuple[str, list[str]]]:
    """Each text that can be shuffled, with the given number of shuffled forms, some of them equal
    if it has few orders. Its sentences are joined in the same way as the shuffled ones, so that
    only their order differs."""
    pairs = []
    for index, text in enumerate(texts):
        forms = [shuffle_text(text, (seed, index, number)) for number in range(shuffles)]
        if forms[0].changed:
            joint = "\n" if "\n" in text.strip() else " "
            pairs.append((joint.join(split_sentences(text)), [form.text for form in forms]))
    return pairs


def train_classifier(
    texts: Sequence[str],
    model: str | Path,
    options: TrainingOptions | None = None,
    *,
    device: str | None = None,
    truncate: bool = False,
    on_epoch: Callable[[int, float, float], object] = lambda *_: None,
) -> CoherenceClassifier:
    """Trains a coherence classifier on texts and their shuffled forms; returns the classifier of
    the best epoch.

    On the CPU the same seed gives the same classifier. ``texts`` are coherent; texts with fewer
    than two sentences are excluded. ``model``, ``device`` and ``truncate`` are as in
    `CoherenceClassifier`. ``on_epoch`` is called after each epoch with its number from 1, the mean
    loss in training, and F1 of the held-out texts (NaN without). Raises TypeError, and ValueError
    if fewer than two texts can be shuffled or one is too long for the encoder.
    """
    options = options or TrainingOptions()
    pairs = shuffled_pairs(check_texts("texts", texts), options.shuffles, options.seed)
    if len(pairs) < 2:
        raise ValueError(
            f"Expected argument `texts` to contain two texts that can be shuffled, but got {len(pairs)}."
        )
    rng = random.Random(options.seed)
    rng.shuffle(pairs)
    held = min(round(options.validation * len(pairs)), len(pairs) - 1)
    classifier = CoherenceClassifier(model, device=device, truncate=truncate, seed=options.seed)
    network, validation = classifier.model, pairs[:held]
    texts = [text for original, forms in pairs[held:] for text in (original, *forms)]
    classes = [kind for _, forms in pairs[held:] for kind in (ORIGINAL, *[SHUFFLED] * len(forms))]
    training = list(zip(classifier.encode(texts), classes, strict=True))
    steps = options.epochs * -(-len(training) // options.batch_size)
    best: tuple[float, Any] | None = None
    with _seeded(options.seed):
        optimizer = torch.optim.AdamW(network.parameters(), lr=options.learning_rate)
        schedule = get_linear_schedule_with_warmup(optimizer, 0, steps)
        for number in range(1, options.epochs + 1):
            rng.shuffle(training)
            loss = _train_epoch(classifier, training, options.batch_size, optimizer, schedule)
            f1 = _f1(classifier, validation) if validation else float("nan")
            on_epoch(number, loss, f1)
            if validation and (best is None or f1 > best[0]):
                best = f1, deepcopy(network.state_dict())
    if best is not None:
        network.load_state_dict(best[1])
    network.eval()
    classifier.trained = True
    return classifier


def _train_epoch(
    classifier: CoherenceClassifier,
    examples: Sequence[Any],
    batch_size: int,
    optimizer: Any,
    schedule: Any,
) -> float:
    """One pass over the examples, each token ids and class; the mean loss."""
    classifier.model.train()
    total = 0.0
    for start in range(0, len(examples), batch_size):
        rows, classes = zip(*examples[start : start + batch_size], strict=True)
        labels = torch.tensor(classes, device=classifier.device)
        loss = classifier.model(**classifier.batch(rows), labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(classifier.model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += float(loss.detach()) * len(classes)
    return total / len(examples)


def _f1(classifier: CoherenceClassifier, pairs: Sequence[tuple[str, list[str]]]) -> float:
    originals = classifier.score([original for original, _ in pairs]) > 0
    shuffled = classifier.score([form for _, forms in pairs for form in forms]) > 0
    hits, wrong = int(originals.sum()), int(shuffled.sum())
    return 2 * hits / (hits + wrong + len(originals))


def _load(source: str, seed: int) -> tuple[Any, bool]:
    """A model with two classes, and whether it came with its head."""
    with quiet(), _seeded(seed):
        model, report = AutoModelForSequenceClassification.from_pretrained(
            source,
            num_labels=2,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    missing, prefix = sorted(report["missing_keys"]), f"{model.base_model_prefix}."
    if encoder := [key for key in missing if key.startswith(prefix) and ".pooler." not in key]:
        raise ValueError(
            f"Expected {source!r} to contain all weights of its encoder, but it lacks {encoder[0]!r}."
        )
    return model, not missing


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Torch's random numbers from a seed within, and as they were after."""
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield
