"""The coherence classifier learns a shuffle task that can be learnt; nothing but the order tells
its classes apart.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from estime_metric.studies.coherence_measures import train
from estime_metric.studies.coherence_measures.classifier import (
    CoherenceClassifier,
    shuffled_pairs,
    train_classifier,
)
from estime_metric.studies.meta.shuffle import shuffle_accuracy, shuffle_texts

pytestmark = pytest.mark.slow

THINGS = [
    "bridge",
    "river",
    "mayor",
    "town",
    "bees",
    "garden",
    "ship",
    "light",
    "train",
    "museum",
    "school",
    "tree",
]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def ordered_texts(number: int, seed: int) -> list[str]:
    """Texts whose sentences say in which order they belong."""
    rng, words = random.Random(seed), ("First", "Then", "Last")
    return [
        " ".join(f"{word} came the {rng.choice(THINGS)}." for word in words) for _ in range(number)
    ]


def accuracy(classifier: CoherenceClassifier) -> float:
    """On texts that it has not seen."""
    texts = ordered_texts(60, seed=1)
    shuffled = shuffle_texts(texts, seed=3)
    return shuffle_accuracy(classifier.score(texts), classifier.score(shuffled))


def test_a_small_random_encoder_learns_the_order_and_is_saved(
    bert_folder: str, tmp_path: Path
) -> None:
    epochs: list[tuple[float, ...]] = []
    options = {"epochs": 4, "learning_rate": 3e-3, "batch_size": 8}
    texts, on_epoch = ordered_texts(100, seed=0), lambda *epoch: epochs.append(epoch)
    classifier = train_classifier(texts, bert_folder, **options, device="cpu", on_epoch=on_epoch)
    assert classifier.trained
    assert accuracy(classifier) > 0.7  # 0.5 by chance, standard deviation 0.065
    assert [epoch[0] for epoch in epochs] == [1, 2, 3, 4]
    assert epochs[-1][1] < epochs[0][1]
    classifier.save(tmp_path)
    texts = [*ordered_texts(3, seed=2), "", "one"]
    again = CoherenceClassifier(tmp_path, device="cpu")
    assert again.trained
    np.testing.assert_allclose(again.score(texts), classifier.score(texts), atol=1e-6)
    np.testing.assert_allclose(again.score(texts, batch_size=1), classifier.score(texts), atol=1e-5)
    np.testing.assert_allclose(again.score(texts[::-1])[::-1], classifier.score(texts), atol=1e-5)
    assert again.score([]).shape == (0,)


def test_the_seed_decides(bert_folder: str) -> None:
    assert not CoherenceClassifier(bert_folder, device="cpu").trained  # a new head
    texts, probe = ordered_texts(12, seed=0), ordered_texts(4, seed=1)

    def scores(seed: int) -> np.ndarray:
        options = {"epochs": 1, "learning_rate": 1e-3, "seed": seed}
        return train_classifier(texts, bert_folder, **options, device="cpu").score(probe)

    state = torch.get_rng_state()
    first = scores(1)
    assert torch.equal(torch.get_rng_state(), state)  # the caller's random numbers are untouched
    torch.manual_seed(99)
    np.testing.assert_array_equal(scores(1), first)
    assert (scores(2) != first).any()


def test_nothing_but_the_order_tells_the_classes_apart() -> None:
    texts = ["One.  Two.   Three.", "Just one.", "", "a\nb\n", "Same. Same."]
    pairs = shuffled_pairs(texts, shuffles=3)
    assert [original for original, _ in pairs] == ["One. Two. Three.", "a\nb"]
    for original, forms in pairs:
        assert len(forms) == 3
        assert all(form != original and sorted(form) == sorted(original) for form in forms)
    assert shuffled_pairs([]) == []


@pytest.mark.parametrize("family", ["roberta", "deberta-v2", "modernbert", "embedded-small"])
def test_other_families_score_up_to_their_last_position(
    family: str, encoder_folder: Callable[[str], str]
) -> None:
    model = family if family == "embedded-small" else encoder_folder(family)
    classifier = CoherenceClassifier(model, device="cpu", truncate=True)
    assert np.isfinite(classifier.score(["the bridge " * 600, "a"])).all()


def test_bad_input_is_named(bert_folder: str) -> None:
    with pytest.raises(ValueError, match="two texts that can be shuffled, but got 1"):
        train_classifier(["One. Two.", "One."], bert_folder)
    long = " ".join(f"The mayor came {day}." for day in range(99))
    with pytest.raises(ValueError, match=r"`texts` to contain texts of at most \d+ tokens"):
        train_classifier([long, "One. Two."], bert_folder, validation=0)


def test_the_training_script(
    bert_folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "texts.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps({"text": text}) + "\n\n" for text in ordered_texts(12, seed=0))
    out = ["-o", str(tmp_path / "out"), "-m", bert_folder, "--device", "cpu"]
    assert train.main([str(path), *out, "--epochs", "2"]) == 0
    shown = capsys.readouterr()
    assert [line.split(":")[0] for line in shown.out.splitlines()[:2]] == ["epoch 1", "epoch 2"]
    assert CoherenceClassifier(tmp_path / "out", device="cpu").trained
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"summary": "A. B."}\n')
    assert train.main([str(bad), *out]) == 2
    assert "line 1 of bad.jsonl to have 'text', but it is missing" in capsys.readouterr().err
