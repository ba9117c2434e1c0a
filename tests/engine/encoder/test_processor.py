"""What is said of a processor, and the precision that ``auto`` takes there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.engine.encoder import processor
from estime_metric.engine.encoder.precision import choose_dtype
from estime_metric.engine.encoder.store import EncoderStore

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)

ZEN_5 = "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu sse2 avx512f avx512_bf16\n\n"
SKYLAKE = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu sse2 avx512f\n\n"
SAPPHIRE_RAPIDS = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu amx_bf16 amx_tile\n\n"
COOPER_LAKE = SKYLAKE.replace("avx512f", "avx512f avx512_bf16")
GRAVITON_3 = "processor\t: 0\nFeatures\t: fp asimd sve bf16\nCPU implementer\t: 0x41\n\n"
GRAVITON_2 = "processor\t: 0\nFeatures\t: fp asimd crc32\nCPU implementer\t: 0x41\n\n"


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Pretends that Linux describes two processors so, or ``None``: that there is no description."""

    def describe(text: str | None) -> None:
        file = tmp_path / "cpuinfo"
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text + text.replace("bf16", "").replace("processor\t: 0", "x\t: 1"))
        processor._description.cache_clear()

    monkeypatch.setattr(processor, "Path", lambda path: tmp_path / Path(path).name)
    yield describe
    processor._description.cache_clear()


@pytest.mark.parametrize(
    ("text", "vendor", "dtype"),
    [
        (ZEN_5, "AuthenticAMD", "bfloat16"),
        (SKYLAKE, "GenuineIntel", "float32"),
        (COOPER_LAKE, "GenuineIntel", "float32"),  # not faster in it
        (SAPPHIRE_RAPIDS, "GenuineIntel", "bfloat16"),
        (GRAVITON_3, "", "bfloat16"),
        (GRAVITON_2, "", "float32"),
        (None, "", "float32"),
    ],
)
def test_what_linux_says_of_a_processor(
    described, monkeypatch: pytest.MonkeyPatch, text: str | None, vendor: str, dtype: str
) -> None:
    monkeypatch.setattr("platform.processor", lambda: "")
    described(text)
    assert processor.vendor() == vendor
    assert choose_dtype("auto", CPU) == dtype
    for calls in ("float32", "bfloat16", "float16"):
        assert choose_dtype(calls, CPU) == calls


def test_windows_names_the_vendor_in_a_description(
    described, monkeypatch: pytest.MonkeyPatch
) -> None:
    described(None)
    name = "AMD64 Family 25 Model 33 Stepping 2, AuthenticAMD"
    monkeypatch.setattr("platform.processor", lambda: name)
    assert processor.vendor() == "AuthenticAMD"


@pytest.mark.parametrize("supported", [True, False])
def test_of_a_gpu_torch_is_asked_whether_it_has_bfloat16_in_hardware(
    monkeypatch: pytest.MonkeyPatch, supported: bool
) -> None:
    def has_bfloat16(*, including_emulation: bool) -> bool:
        return supported or including_emulation

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device", lambda device: torch.inference_mode())
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", has_bfloat16)
    assert choose_dtype("auto", CUDA) == ("bfloat16" if supported else "float32")
    assert choose_dtype("auto", torch.device("mps")) == "float32"


@pytest.mark.parametrize("text", [ZEN_5, SKYLAKE])
def test_auto_is_resolved_in_the_signature_and_shares_the_encoder(
    described, monkeypatch: pytest.MonkeyPatch, text: str, bert_folder: str
) -> None:
    monkeypatch.setattr("estime_metric.engine.encoder.store.STORE", EncoderStore())
    described(text)
    scorer = EstimeScorer(model=bert_folder, device="cpu", dtype="auto")
    dtype = choose_dtype("auto", CPU)
    named = EstimeScorer(model=bert_folder, device="cpu", dtype=dtype)
    assert scorer.signature == named.signature
    assert f"|dtype:{dtype}|" in scorer.signature
    assert scorer.encoder is named.encoder
    result = scorer.score(["The cat sat."], ["A cat sat on the mat."])
    assert (result.config.dtype, result.signature) == (dtype, scorer.signature)
    assert EstimeConfig(dtype="auto") != EstimeConfig()
    assert "|dtype:auto|" in EstimeConfig(dtype="auto").signature()  # until it is loaded
