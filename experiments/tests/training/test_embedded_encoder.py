"""The training of the bundled encoder: stopped and resumed it gives the same weights; blocks keep
to documents.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from estime_metric import EstimeScorer
from estime_metric.engine.encoder.loading import load_pretrained
from experiments.training import data, export, train
from experiments.training import pairs as matching
from experiments.training.data import (
    BlockStream,
    Corpus,
    Vocabulary,
    held_out,
    hide,
    load_tokenizer,
)
from experiments.training.model import Trainee
from experiments.training.pairs import (
    PHASES,
    SUMMARIES,
    SUMMARY_LENGTH,
    MatchingPairs,
    make_pairs,
)
from tests.families import SENTENCES, make_tokenizer, save_encoder

STEPS = 5


@pytest.fixture(scope="module", params=["bert", "mpnet"])
def folders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A corpus of ten documents to train on and one set aside, and a tiny encoder."""
    corpus, start = (tmp_path_factory.mktemp(name) for name in ("corpus", "start"))
    rng = random.Random(0)
    texts = [" ".join(rng.choices(SENTENCES, k=40)) for _ in range(400)]
    aside = [text for text in texts if held_out(text)][:1]
    assert aside
    rows = [*[text for text in texts if not held_out(text)][:10], *aside]
    with gzip.open(corpus / "made-up.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps({"text": text, "source": "made up"}) + "\n" for text in rows)
    return corpus, save_encoder(start, request.param, num_hidden_layers=2)


@pytest.fixture(autouse=True, scope="module")
def _small() -> Iterator[None]:
    """A run of a few steps."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(train, "BATCHES", 1)
        patched.setattr(train, "LONG_SHARE", 0.5)
        patched.setattr(train, "WARMUP", 2)
        yield


def run(folders: tuple[Path, Path], work: Path, *options: object) -> dict[str, torch.Tensor]:
    """Trains until the script ends, and returns the weights of its checkpoint."""
    fixed = {
        "steps": STEPS,
        "minutes": 10**6,
        "batch": 1600,
        "matching": 1,
        "device": "cpu",
        "threads": 1,
        "blocks": 1,
    }
    arguments = [part for name, value in fixed.items() for part in (f"--{name}", str(value))]
    train.main([*map(str, (*folders, work)), *arguments, *map(str, options)])
    return checkpoint(work)["model"]


def checkpoint(work: Path) -> dict[str, Any]:
    return torch.load(work / "checkpoint.pt", weights_only=True)


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


@pytest.fixture(scope="module")
def uninterrupted(
    folders: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, torch.Tensor]:
    return run(folders, tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("folders", ["bert"], indirect=True)
def test_a_killed_run_resumes_from_its_checkpoint_to_the_same_weights(
    folders: tuple[Path, Path],
    tmp_path: Path,
    uninterrupted: dict[str, torch.Tensor],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn, step = [], train.Batches.step

    def killed(batches: train.Batches, number: int, progress: float) -> object:
        drawn.append(number)
        if number == 3:
            raise KeyboardInterrupt
        return step(batches, number, progress)

    with monkeypatch.context() as patched:
        patched.setattr(train.Batches, "step", killed)
        patched.setattr(train, "SAVED_EVERY", 0.0)
        with pytest.raises(KeyboardInterrupt):
            run(folders, tmp_path / "work")
    assert drawn == [0, 1, 2, 3]
    assert checkpoint(tmp_path / "work")["step"] == 3
    assert not same(checkpoint(tmp_path / "work")["model"], uninterrupted)
    assert same(run(folders, tmp_path / "work"), uninterrupted)
    assert checkpoint(tmp_path / "work")["step"] == STEPS


def corpus_of(lengths: list[int]) -> Corpus:
    """Documents whose token ids are their own positions in the corpus, so that a block says where
    it was cut.
    """
    ends = np.cumsum(lengths)
    return Corpus.of(
        [
            np.arange(end - length, end, dtype=np.uint16)
            for length, end in zip(lengths, ends, strict=True)
        ]
    )


@pytest.mark.parametrize("length", [3, 7])
def test_every_epoch_cuts_each_document_into_as_many_blocks_as_fit(length: int) -> None:
    lengths = [20, 2, 7, 33, 14]
    corpus = corpus_of(lengths)
    stream = BlockStream(corpus, length, seed=1)
    per_epoch = sum(size // length for size in lengths)
    epochs = [stream.draw(per_epoch) for _ in range(3)]
    document_of = np.repeat(np.arange(len(lengths)), lengths)
    for blocks in epochs:
        assert (
            np.diff(blocks.astype(int), axis=1) == 1
        ).all()  # tokens of the corpus in their order
        assert (
            document_of[blocks[:, 0]] == document_of[blocks[:, -1]]
        ).all()  # within one document
        assert len(np.unique(blocks)) == blocks.size  # no token twice
        counted = np.bincount(document_of[blocks[:, 0]], minlength=len(lengths))
        assert counted.tolist() == [size // length for size in lengths]
    assert not np.array_equal(epochs[0], epochs[1])  # cut and shuffled anew
    assert stream.position == 3 * per_epoch


def test_a_stream_resumes_at_any_position() -> None:
    corpus = corpus_of([20, 7, 33])
    whole = BlockStream(corpus, 5, seed=2).draw(30)
    for position in (1, 13, 28):
        resumed = BlockStream(corpus, 5, seed=2, position=position).draw(30 - position)
        np.testing.assert_array_equal(resumed, whole[position:])
    with pytest.raises(
        ValueError, match="documents of at least 40 tokens, but the corpus has none"
    ):
        BlockStream(corpus, 40, seed=0)


@pytest.fixture(scope="module", params=["bert", "mpnet"])
def vocabulary(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Vocabulary:
    folder = tmp_path_factory.mktemp("tokenizer")
    make_tokenizer(request.param).save_pretrained(folder)
    return Vocabulary.of(load_tokenizer(folder))


def test_masks_cover_whole_words_and_keep_what_they_hide(vocabulary: Vocabulary) -> None:
    rng = np.random.default_rng(0)
    continues = vocabulary.continues
    blocks = rng.integers(20, len(continues), size=(6, 40)).astype(np.uint16)
    flags = data.random_masks(blocks, continues, (0.3, 0.3), 1.0, rng)
    batch = hide(blocks, flags, vocabulary)
    ids = batch.ids.numpy()
    masked = np.pad(flags, ((0, 0), (1, 1)))
    assert (ids[:, 0] == vocabulary.cls).all()
    assert (ids[:, -1] == vocabulary.sep).all()
    assert (ids[masked] == vocabulary.mask).all()
    assert np.flatnonzero(masked).tolist() == batch.positions.tolist()
    hidden = np.pad(blocks.astype(int), ((0, 0), (1, 1)))
    assert hidden[masked].tolist() == batch.targets.tolist()
    assert np.array_equal(ids[:, 1:-1][~flags], blocks[~flags])
    for row, chosen in zip(blocks, flags, strict=True):
        word = np.cumsum(~continues[row])
        assert all(
            len(set(chosen[word == number])) == 1 for number in set(word)
        )  # a word is masked as a whole
        assert 0 < chosen.sum() <= 0.3 * 40 or len(set(word[chosen])) == 1


def blocks_of_sentences(
    count: int, source: int, vocabulary: Vocabulary, seed: int = 0
) -> np.ndarray:
    """Blocks of random words with a full stop after each ninth and a comma after each fourth of
    those.
    """
    words = sorted(set(range(len(vocabulary.continues))) - {*vocabulary.ends, vocabulary.comma})
    blocks = np.random.default_rng(seed).choice(words, size=(count, source + SUMMARY_LENGTH))
    blocks[:, 8::9], blocks[:, 3::9] = vocabulary.stop, vocabulary.comma
    return blocks.astype(np.uint16)


def test_pairs_mask_every_token_of_a_source_once(vocabulary: Vocabulary) -> None:
    blocks = blocks_of_sentences(6, 254, vocabulary)
    pairs = make_pairs(blocks, vocabulary, np.random.default_rng(0))
    assert pairs.summaries.ids.shape == (6 * SUMMARIES, SUMMARY_LENGTH + 2)
    assert pairs.sources.ids.shape == (6 * PHASES, 256)
    hidden = np.zeros((6 * PHASES, 256), int)
    hidden.reshape(-1)[pairs.sources.positions] = pairs.sources.targets
    assert np.array_equal(hidden.reshape(6, PHASES, 256).sum(1)[:, 1:-1], blocks[:, :254])
    of_summary, of_source = pairs.owners
    assert of_summary.tolist() == [int(p) // 128 // SUMMARIES for p in pairs.summaries.positions]
    assert of_source.tolist() == [int(p) // 256 // PHASES for p in pairs.sources.positions]


def matching_oracle(summaries: torch.Tensor, sources: torch.Tensor, pairs: MatchingPairs) -> float:
    """The loss by loops over tokens, in double precision."""
    both = torch.cat([summaries, sources]).double()
    unit = float((both**2).sum(1).mean()) * matching.TEMPERATURE
    totals = []
    for across in (False, True):
        losses = []
        for i, own in enumerate(pairs.owners[0].tolist()):
            shares = [0.0, 0.0]
            for j, other in enumerate(pairs.owners[1].tolist()):
                if across or own == other:
                    same = int(pairs.summaries.targets[i]) == int(pairs.sources.targets[j])
                    shares[same] += float(
                        torch.exp(summaries[i].double() @ sources[j].double() / unit)
                    )
            if shares[1]:
                losses.append(-np.log(shares[1] / sum(shares)))
        totals.append(float(np.mean(losses)))
    return (1 - matching.ACROSS) * totals[0] + matching.ACROSS * totals[1]


def test_the_matching_loss_equals_its_definition(vocabulary: Vocabulary) -> None:
    pairs = make_pairs(blocks_of_sentences(2, 30, vocabulary), vocabulary, np.random.default_rng(1))
    generator = torch.Generator().manual_seed(0)
    batches = pairs.summaries, pairs.sources
    summaries, sources = (
        torch.randn(len(batch.targets), 16, generator=generator) / 4 for batch in batches
    )
    expected = matching_oracle(summaries, sources, pairs)
    assert float(matching.matching_loss(summaries, sources, pairs)) == pytest.approx(
        expected, rel=1e-4
    )
    known = torch.randn(
        len(vocabulary.continues), 32, generator=generator
    )  # they say which token was masked
    assert (
        float(
            matching.matching_loss(
                known[pairs.summaries.targets], known[pairs.sources.targets], pairs
            )
        )
        < 0.01
    )


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_the_trained_encoder_computes_what_transformers_computes(
    family: str, tmp_path: Path
) -> None:
    folder = save_encoder(tmp_path, family)
    trainee = Trainee.start(folder, 3).eval()
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    rows = np.random.default_rng(0).integers(20, 400, size=(2, 30)).astype(np.uint16)
    batch = hide(
        rows,
        data.spaced_masks(rows.shape, np.random.default_rng(1)),
        Vocabulary.of(load_tokenizer(folder)),
    )
    with torch.inference_mode():
        expected = model(input_ids=batch.ids, output_hidden_states=True).hidden_states
        for layer, computed in enumerate(trainee.states(batch, 0, 1, 2, 3)):
            torch.testing.assert_close(
                computed, expected[layer].flatten(0, 1)[batch.positions], rtol=1e-4, atol=1e-4
            )


def test_what_is_exported_ships(folders: tuple[Path, Path], tmp_path: Path) -> None:
    run(folders, tmp_path / "work", "--blocks", 2)
    out, start = tmp_path / "out", folders[1]
    family = json.loads((start / "config.json").read_text())["model_type"]
    arguments = [
        str(tmp_path / "work" / "checkpoint.pt"),
        str(start),
        str(out),
        "--layer",
        "1",
        "--blocks",
        "1",
    ]
    export.main(arguments)
    assert json.loads((out / "config.json").read_text())["num_hidden_layers"] == 1
    names = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert not any(str(tmp_path.parent) in path.read_text() for path in out.glob("*.json"))
    scorer = EstimeScorer(model=str(out), device="cpu")
    assert scorer.score([SENTENCES[0]], [" ".join(SENTENCES[:3])]).layers == (1,)
    trained = torch.load(arguments[0], weights_only=True)["model"]
    name = next(name for name in trained if name.endswith("layer.0.output.dense.weight"))
    computed = load_pretrained(str(out), None, torch.float32)
    off = computed.model.state_dict()[name.removeprefix("body.")] - trained[name]
    assert off.norm() < 0.01 * trained[name].norm()
    assert computed.headed is None
    if family == "bert":
        export.main([*arguments, "--head"])
        headed = load_pretrained(str(out), None, torch.float32).headed
        assert torch.equal(headed.cls.predictions.bias, trained["bias"])
    else:
        with pytest.raises(ValueError, match="`weights` to contain the prediction head"):
            export.main([*arguments, "--head"])
    with pytest.raises(ValueError, match=r"`layer` to be within 0..1, the blocks kept, but got 2"):
        export.main([*arguments, "--layer", "2"])


def test_the_scale_of_a_row_is_better_than_its_largest_value() -> None:
    weight = (
        torch.randn(50, 200, generator=torch.Generator().manual_seed(0))
        * torch.logspace(-4, 1, 50)[:, None]
    )
    weight[7] = 0
    codes, scale = export.quantize(weight)
    assert (codes.dtype, scale.dtype, scale.shape) == (torch.int8, torch.float16, (50,))
    error = (codes.float() * scale.float()[:, None] - weight).square().sum(1)
    largest = (weight.abs().amax(1) / 127).half().float().clamp(min=1e-20)
    plain = (
        ((weight / largest[:, None]).round().clamp(-127, 127) * largest[:, None] - weight)
        .square()
        .sum(1)
    )
    assert (error <= plain).all()
    assert error.sum() < 0.99 * plain.sum()
    assert (error.sqrt() <= 0.01 * weight.norm(dim=1)).all()
