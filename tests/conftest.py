"""Fixtures for all tests: small random encoders of every family, SummEval if it is available,
seeds.
"""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

os.environ.pop("HF_HUB_OFFLINE", None)  # tests set it; read by the first import of huggingface_hub

import huggingface_hub
import transformers

from tests.command import json_rows
from tests.families import FAMILIES, SENTENCES, TOKENIZERS, make_pairs, save_encoder

huggingface_hub.constants.HF_HUB_OFFLINE = False  # a plug-in of pytest may have imported it before

if (
    "PYTEST_XDIST_WORKER" in os.environ
):  # with other workers: one thread each, in child processes too
    torch.set_num_threads(1)
    os.environ.setdefault("OMP_NUM_THREADS", "1")

SUMMEVAL = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "summeval"

_modules = 0  # that were there when the collector last looked at everything


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What modules brought stays: the collector, which each load of an encoder calls, need not look
    at it again.
    """
    global _modules
    if len(sys.modules) > _modules + 100:
        gc.collect()
        gc.freeze()
        _modules = len(sys.modules)


@pytest.fixture(autouse=True)
def _seeds() -> None:
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """family -> the folder of its small random encoder, made once."""
    root = tmp_path_factory.mktemp("encoders")
    return cache(lambda family: str(save_encoder(root / family, family)))


@pytest.fixture(
    params=[*TOKENIZERS[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in FAMILIES[2:])]
)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(family: str, encoder_folder: Callable[[str], str]) -> str:
    return encoder_folder(family)


@pytest.fixture(scope="session")
def bert_folder(encoder_folder: Callable[[str], str]) -> str:
    return encoder_folder("bert")


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the small bundled encoder, in the form for tools that do not support int8 weights."""
    from estime_metric.engine.encoder.foreign import load_pretrained

    folder = tmp_path_factory.mktemp("small")
    load_pretrained("embedded-small", None, torch.float32).save(folder)
    return str(folder)


@pytest.fixture(scope="session")
def bert_tokenizer(bert_folder: str) -> transformers.PreTrainedTokenizerFast:
    """The small BERT's tokenizer, as it is loaded from its folder. Not to be changed by a test."""
    return transformers.AutoTokenizer.from_pretrained(bert_folder)


@pytest.fixture(params=TOKENIZERS)
def kind_folder(request: pytest.FixtureRequest, encoder_folder: Callable[[str], str]) -> str:
    """The folder of an encoder with each kind of tokenizer in turn: for what depends on tokens and
    spans alone.
    """
    return encoder_folder(request.param)


@pytest.fixture
def tokenizer(kind_folder: str) -> transformers.PreTrainedTokenizerFast:
    return transformers.AutoTokenizer.from_pretrained(kind_folder)


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    """Sixteen pairs (summary, source), of one source in two windows."""
    return make_pairs((2, 9), (0, len(SENTENCES)))


@pytest.fixture(scope="session")
def summeval() -> list[tuple[str, str]]:
    """All 1,600 pairs (summary, source) of SummEval, source by source."""
    if not (SUMMEVAL / "summeval.jsonl").is_file():
        pytest.skip(
            "SummEval is not available: it is looked for in shared/data/summeval next to the repository"
        )
    sources = {row["doc_id"]: row["source"] for row in json_rows(SUMMEVAL / "documents.jsonl")}
    summaries = json_rows(SUMMEVAL / "summeval.jsonl")
    return [
        (row["summary"], source)
        for name, source in sources.items()
        for row in summaries
        if row["doc_id"] == name
    ]
