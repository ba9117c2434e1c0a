"""The encoder: the right states whatever surrounds it, in bounded memory; odd encoders are exact or
refused by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch
import transformers

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.engine.encoder.device import choose_device
from estime_metric.engine.encoder.foreign import ForeignLayers
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.encoder.store import STORE, EncoderStore
from estime_metric.engine.masking import MaskedText, WindowBatch, plan_token_windows
from estime_metric.engine.units import tokenize
from tests.families import BLOCKS, SENTENCES, save_encoder

LAYERS = list(range(BLOCKS + 1))
SETTING = {"window": 60, "margin": 10, "distance": 4}


def config(folder: str, **options: object) -> EstimeConfig:
    return EstimeConfig(**{"model": folder, "layers": LAYERS, "device": "cpu", **options})  # type: ignore[arg-type]


def get(folder: str, **options: object) -> MaskedEncoder:
    """An encoder, loaded once for all tests."""
    return STORE.get(config(folder, **options))[0]


def load(folder: str, **options: object) -> MaskedEncoder:
    """A separate copy, of just the depth that is asked for."""
    return EncoderStore().get(config(folder, **options))[0]


def masked_texts(encoder: MaskedEncoder, texts: list[str]) -> list[MaskedText]:
    made = []
    for number, units in enumerate(tokenize(texts, encoder.tokenizer)):
        wanted = list(range(0, len(units), number % 3 + 1))
        made.append(
            MaskedText(units.ids, plan_token_windows(len(units), wanted, **SETTING), len(wanted))
        )
    return made


assert_close = partial(
    torch.testing.assert_close, rtol=1e-4, atol=1e-4
)  # of two tensors, or of two lists of them

TEXTS = [
    SENTENCES[0],
    " ".join(SENTENCES[:4]),
    "",
    " ".join(SENTENCES[8:10]),
    "cat",
    " ".join(SENTENCES[10:16]),
]


def test_the_budget_is_kept_and_changes_nothing(
    bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = get(bert_folder)
    texts = masked_texts(encoder, TEXTS)
    expected = encoder.encode(texts, LAYERS)
    sizes = short_of_memory(monkeypatch, 10**9, MemoryError())
    windows = [window for text in texts for window in text.windows]
    longest = max(map(len, windows)) + encoder.info.special.around
    for budget in (1, 100, 500, 10**9):
        sizes.clear()
        shares: list[float] = []
        states = encoder.encode(texts, LAYERS, token_budget=budget, on_progress=shares.append)
        assert_close(states, expected)
        assert len(sizes) == len(shares)
        assert sum(shares) == pytest.approx(1.0)
        assert max(sizes) <= max(budget, longest)
    sizes.clear()
    encoder.encode(masked_texts(encoder, [" ".join(SENTENCES * 3)]), [1])
    assert 1_000 < max(sizes) <= 2_000  # by default, on a CPU
    assert encoder.encode([], LAYERS) == []


def test_the_device_that_is_named_is_used_or_refused() -> None:
    assert choose_device(None).type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert choose_device("cpu") == torch.device("cpu")
    number = torch.cuda.device_count()
    for device, message in (
        ("gpu", "torch device, such as cpu, .* or mps, but got 'gpu'"),
        ("meta", "`device` to be .* of this machine.*'meta'"),
        (f"cuda:{number}", f"`device` to be .* of this machine.*'cuda:{number}'"),
    ):
        with pytest.raises(ValueError, match=message):
            choose_device(device)


@pytest.mark.parametrize("around", [torch.autocast("cpu", torch.bfloat16), torch.enable_grad()])
def test_autocast_gradients_and_default_dtype_around_it_change_nothing(
    bert_folder: str, around: Any
) -> None:
    encoder = get(bert_folder)
    texts = masked_texts(encoder, TEXTS[:2])
    expected = encoder.encode(texts, LAYERS)
    torch.set_default_dtype(torch.float64)
    try:
        with around:
            states = encoder.encode(texts, LAYERS)
            modes = torch.is_autocast_enabled("cpu"), torch.is_grad_enabled()
        assert modes == (isinstance(around, torch.autocast), True)  # still on
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    for text_states, as_before in zip(states, expected, strict=True):
        assert not text_states.requires_grad
        assert torch.equal(text_states, as_before)
        assert text_states.dtype == torch.float32


def short_of_memory(monkeypatch: pytest.MonkeyPatch, most: int, error: Exception) -> list[int]:
    """Lets a forward pass of more than ``most`` positions fail; returns the sizes of those that
    ran.
    """
    read, sizes = ForeignLayers.read, []

    def limited(
        self: ForeignLayers, batch: WindowBatch, layers: Sequence[int]
    ) -> list[torch.Tensor]:
        if batch.ids.numel() > most:
            raise error
        sizes.append(batch.ids.numel())
        return read(self, batch, layers)

    monkeypatch.setattr(ForeignLayers, "read", limited)
    return sizes


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError(),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:117] . DefaultCPUAllocator: can't allocate memory: you tried"
        ),
    ],
)
def test_out_of_memory_halves_the_budget(
    bert_folder: str, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    encoder = load(bert_folder)
    texts = masked_texts(encoder, TEXTS)
    expected = encoder.encode(texts, LAYERS)
    sizes = short_of_memory(monkeypatch, 300, error)
    shares: list[float] = []
    warning = r"Out of memory on cpu: the token budget was reduced to \d+. Scores change only by"
    with pytest.warns(RuntimeWarning, match=warning) as caught:
        states = encoder.encode(texts, LAYERS, token_budget=100_000, on_progress=shares.append)
    assert len(caught) == 1
    assert max(sizes) <= 300
    assert sum(shares) == pytest.approx(1.0)
    assert_close(states, expected)
    encoder.encode(texts, LAYERS, token_budget=100_000)  # no second warning: it has learnt


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("out of memory"),
        RuntimeError("could not create a primitive descriptor for a matmul primitive"),
    ],
)
def test_one_window_that_does_not_fit_and_other_errors_are_raised(
    bert_folder: str, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    encoder = load(bert_folder)
    short_of_memory(monkeypatch, 20, error)
    with pytest.raises(type(error), match=str(error)):
        encoder.encode(masked_texts(encoder, TEXTS), LAYERS)


def test_a_lack_of_memory_while_loading_is_called_so(
    bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the probes it hits: none takes it for a model that cannot be read or padded."""
    forward, left = transformers.BertModel.forward, 1_000

    def limited(*inputs: object, **named: object) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return forward(*inputs, **named)

    monkeypatch.setattr(transformers.BertModel, "forward", limited)
    assert load(bert_folder).takes_padding
    probes = 1_000 - left
    assert probes == 4
    for number in range(probes):
        left = number
        with pytest.raises(MemoryError, match="not enough memory on cpu for the encoder"):
            load(bert_folder)


def spoilt(
    bert_tokenizer: transformers.PreTrainedTokenizerFast, folder: Path, weight: str, value: float
) -> str:
    """The folder of a small BERT with one number of each row of a weight set to this value."""
    save_encoder(folder, "bert", bert_tokenizer)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    model.base_model.get_parameter(weight).data[..., 0] = value
    model.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(
    ("weight", "value", "dtype", "way_out"),
    [
        ("encoder.layer.0.output.dense.weight", math.nan, "bfloat16", ""),
        # Finite in float32, beyond the range of float16.
        (
            "encoder.layer.0.output.LayerNorm.weight",
            1e5,
            "float16",
            ", or they need `dtype` float32 or bfloat16",
        ),
    ],
)
def test_an_encoder_of_states_that_are_not_finite_is_refused(
    bert_tokenizer, tmp_path: Path, weight: str, value: float, dtype: str, way_out: str
) -> None:
    model = spoilt(bert_tokenizer, tmp_path / "spoilt", weight, value)
    message = f"The encoder produced non-finite embeddings in torch.{dtype}: its weights contain NaN or infinity{way_out}."
    with pytest.raises(FloatingPointError, match=re.escape(message)):
        EstimeScorer(model=model, dtype=dtype).score([SENTENCES[0]], [SENTENCES[0]])
    if math.isfinite(value):
        EstimeScorer(model=model).score([SENTENCES[0]], [SENTENCES[0]])


def test_input_embeddings_that_are_not_finite_give_no_soft(
    bert_folder: str, bert_tokenizer, tmp_path: Path
) -> None:
    words = "embeddings.word_embeddings.weight"
    model = spoilt(bert_tokenizer, tmp_path / "other", words, math.inf)
    scorer = EstimeScorer(model=bert_folder, measures="soft", soft_model=model)
    with pytest.raises(FloatingPointError, match=f"input embeddings of '{model}' are not finite"):
        scorer.score([SENTENCES[0]], [SENTENCES[0]])


#: family -> what its small configuration needs in addition to the common sizes.
ODD: dict[str, dict[str, object]] = {
    "convbert": {"conv_kernel_size": 9, "head_ratio": 2, "num_groups": 1, "embedding_size": 32},
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX", "adapter_reduction_factor": 2},
    "fnet": {},
    "mra": {},
    "yoso": {},
}
SIZES: dict[str, object] = {"num_hidden_layers": 2, "type_vocab_size": 4}


@pytest.mark.parametrize("family", ODD)
def test_the_budget_changes_no_score_of_an_odd_encoder(
    family: str, tmp_path: Path, bert_tokenizer
) -> None:
    """A budget of one window leaves nothing to pad; the default one pads what differs in length."""
    folder = str(save_encoder(tmp_path, family, bert_tokenizer, **SIZES, **ODD[family]))
    options = {
        "model": folder,
        "layers": 2,
        "device": "cpu",
        "window": 40,
        "margin": 8,
        "distance": 4,
    }
    source = " ".join(SENTENCES[:4])
    summaries = [
        " ".join(sentence.split()[:k]) for k, sentence in enumerate(SENTENCES[:6], start=5)
    ]
    alone = EstimeScorer(**options, token_budget=1).score_candidates(summaries, source)  # type: ignore[arg-type]
    together = EstimeScorer(**options).score_candidates(summaries, source)  # type: ignore[arg-type]
    difference = (alone.values("alarms") - together.values("alarms")).abs().sum()
    assert difference <= max(alone.ties(), together.ties())


def test_a_vocabulary_of_few_tokens(tmp_path: Path) -> None:
    words = ["the", "cat", "saw", "a", "dog"]
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    special |= {"cls_token": "[CLS]", "sep_token": "[SEP]"}
    numbers = {token: number for number, token in enumerate([*special.values(), *words])}
    tokens = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="[UNK]"))
    tokens.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=tokens, **special)
    folder = save_encoder(tmp_path, "bert", tokenizer)
    summary, source = "the cat saw a dog", "a dog saw the cat the cat saw a dog"
    scorer = EstimeScorer(model=str(folder), layers=2, device="cpu")
    table = scorer.score([summary, summary], [summary, source]).table()
    assert table["tokens"].tolist() == [5, 5]
    assert table["alarms"][0] == 0


def test_blocks_that_take_no_input_of_an_ordinary_length_are_refused_by_name(
    tmp_path: Path, bert_tokenizer
) -> None:
    own = {"num_landmarks": 16, "segment_means_seq_len": 64, "conv_kernel_size": 17}
    model = save_encoder(tmp_path, "nystromformer", bert_tokenizer, **SIZES, **own)
    with pytest.raises(ValueError, match=r"`model` to name a BERT-like encoder .*, but got Nystr"):
        EstimeScorer(model=str(model), device="cpu").score(["The cat."], ["The cat sat."])
