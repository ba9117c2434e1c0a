"""On a pretended device: all tensors of the engine are there, and results are the CPU's exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
import torch

from estime_metric import EstimeResult, EstimeScorer
from estime_metric.engine.encoder import own, store
from estime_metric.engine.encoder.device import put_all
from estime_metric.engine.encoder.memory import default_budget
from tests.engine.encoder.pretended_device import DEVICE, pretended_device
from tests.families import FAMILIES, SENTENCES

pytestmark = pytest.mark.slow

#: Windows of several lengths, three layers with the last block among them, everything that can be
#: measured.
SETTING: dict[str, Any] = {
    "layers": (0, 2, 4),
    "measures": ("soft", "coherence", "alarms_alltokens"),
    "window": 60,
    "margin": 10,
    "distance": 4,
    "token_budget": 500,
}
LONG, SHORT = " ".join(SENTENCES[:5]), SENTENCES[12]
PAIRS = [
    (SENTENCES[0], LONG),
    ("", LONG),
    ("The river sat on the mat.", LONG),
    ("", SHORT),
    ("zzz 9", SHORT),
    (SENTENCES[3], LONG),
    ("The expert found the painter in the dirt.", SHORT),
]
SUMMARIES, SOURCES = [summary for summary, _ in PAIRS], [source for _, source in PAIRS]
FEW = [SENTENCES[0], "", SENTENCES[3]], [" ".join(SENTENCES[:3])] * 3


@pytest.fixture(scope="module", autouse=True)
def _own_encoders() -> Iterator[None]:
    """No encoder of these tests is there for others, nor the other way round. On the CPU they run
    the operations that a GPU runs.
    """
    with (
        mock.patch.object(store, "STORE", store.EncoderStore()),
        mock.patch.object(own, "VENDORS", ()),
    ):
        yield


def make(folder: str, **setting: Any) -> EstimeScorer:
    return EstimeScorer(model=folder, **{**SETTING, "device": "cpu", **setting})


def loaded(folder: str, **setting: Any) -> EstimeScorer:
    """A scorer on the pretended device, loaded."""
    scorer = make(folder, device=str(DEVICE), **setting)
    assert scorer.encoder.device == DEVICE
    return scorer


def assert_same(result: EstimeResult, expected: EstimeResult) -> None:
    torch.testing.assert_close(  # counts are whole numbers: equal
        result._statistics, expected._statistics, rtol=1e-5, atol=1e-5, equal_nan=True
    )


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"unit": "word"},
        {"normalize": True, "layers": 3},
        {"unit": "word", "dtype": "bfloat16"},
        {"soft_model": 1},
        {"cache": 10**8},
    ],
    ids=["token", "word", "normalize", "bfloat16", "soft_model", "cache"],
)
def test_scores_are_those_of_the_cpu(
    setting: dict[str, Any], bert_folder: str, monkeypatch
) -> None:
    store.STORE.release()  # of the blocks that are asked for, no more
    setting = {
        name: bert_folder if name == "soft_model" else value for name, value in setting.items()
    }
    expected = make(bert_folder, **setting).score(SUMMARIES, SOURCES)
    with pretended_device(monkeypatch):
        scorer = loaded(bert_folder, **setting)
        for _ in range(2):  # the second time from the cache, if there is one
            result = scorer.score(SUMMARIES, SOURCES)
            assert_same(result, expected)
    assert result.values("alarms", result.layers[-1]).sum() > 0


@pytest.mark.parametrize("model", ["embedded-small", *FAMILIES])
def test_every_encoder_is_run_as_on_the_cpu(
    model: str, encoder_folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = encoder_folder(model) if model in FAMILIES else model
    setting = {"layers": (0, 4), "measures": ()}
    expected = make(model, **setting)
    result = expected.score(*FEW)
    with pretended_device(monkeypatch):
        scorer = loaded(model, **setting)
        assert_same(scorer.score(*FEW), result)
    assert scorer.encoder.takes_padding == expected.encoder.takes_padding


@pytest.mark.parametrize("unit", ["token", "word"])
def test_explanations_are_those_of_the_cpu(
    unit: str, bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = make(bert_folder, unit=unit).explain_pairs(SUMMARIES, SOURCES, layer=4)
    with pretended_device(monkeypatch):
        result = loaded(bert_folder, unit=unit).explain_pairs(SUMMARIES, SOURCES, layer=4)
    for explanation, on_cpu in zip(result, expected, strict=True):
        assert explanation.to_dict() == on_cpu.to_dict()


def test_what_is_left_on_the_cpu_is_found(
    bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise these tests would see nothing."""
    cpu = torch.device("cpu")
    monkeypatch.setattr(
        "estime_metric.engine.matching.put_all", lambda values, device: put_all(values, cpu)
    )
    with (
        pretended_device(monkeypatch),
        pytest.raises(RuntimeError, match="got tensors on the CPU"),
    ):
        loaded(bert_folder).score(SUMMARIES, SOURCES)


GIGABYTE = 1 << 30


@pytest.mark.parametrize(
    ("free", "reserved", "allocated", "expected"),
    [
        (80, 0, 0, 65_536),  # an empty device: the default
        (4, 0, 0, 2 * GIGABYTE // 100_000),  # half of it
        (1, 9, 6, 2 * GIGABYTE // 100_000),  # memory that torch reserves and does not use counts
        (0, 9, 9, 2_000),  # never nothing
    ],
)
def test_a_forward_pass_gets_no_more_than_half_of_what_is_free(
    free: int, reserved: int, allocated: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, gigabytes in (("reserved", reserved), ("allocated", allocated)):
        monkeypatch.setattr(torch.cuda, f"memory_{name}", lambda _, n=gigabytes: n * GIGABYTE)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (free * GIGABYTE, 80 * GIGABYTE))
    assert default_budget(DEVICE, 100_000) == expected
    elsewhere = [default_budget(torch.device(name), 10**12) for name in ("cpu", "meta")]
    assert elsewhere == [2_000, 16_384]
