"""The store of encoders: one copy of each, found by whatever name, bounded in number, freed when
released.
"""

from __future__ import annotations

import gc
import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from estime_metric import embedded
from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder import masked as encoder_module
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.encoder.store import MOST_HELD, EncoderStore
from tests.engine.encoder.test_loading import rewrite
from tests.engine.encoder.test_masked import TEXTS, config, masked_texts
from tests.families import BLOCKS


@pytest.fixture
def store() -> EncoderStore:
    """A separate store, so that a test finds nothing that another one loaded."""
    return EncoderStore()


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    models: list[str] = []
    load = encoder_module.load_commit
    monkeypatch.setattr(
        encoder_module, "load_commit", lambda *of: models.append(of[0]) or load(*of)
    )
    return models


def get(store: EncoderStore, folder: str, **options: object) -> MaskedEncoder:
    return store.get(config(folder, **options))[0]


def test_the_same_ask_gets_the_same_object(
    store: EncoderStore, bert_folder: str, loads: list[str]
) -> None:
    first, resolved = store.get(config(bert_folder, layers=[2]))
    assert get(store, bert_folder, layers=[2]) is first
    assert get(store, bert_folder, layers=[0, 2], window=200, distance=3, token_budget=5) is first
    assert get(store, bert_folder + "/", layers=[2]) is first
    assert resolved.revision is not None
    assert store.get(resolved) == (first, resolved)  # the configuration of a result
    assert len(loads) == 1
    assert get(store, bert_folder, layers=[2], dtype="bfloat16") is not first


def test_a_deeper_encoder_serves_a_shallower_request(
    store: EncoderStore, bert_folder: str, loads: list[str]
) -> None:
    shallow, deep = (get(store, bert_folder, layers=[depth]) for depth in (1, BLOCKS))
    assert (shallow.depth, deep.depth) == (1, BLOCKS)
    encoder, resolved = store.get(config(bert_folder, layers=[2]))
    assert encoder is deep
    assert resolved.layers == (2,)
    assert len(loads) == 2


def test_the_least_recently_used_goes(store: EncoderStore, bert_folder: str) -> None:
    dtypes = ["float32", "bfloat16", "float16"]
    assert len(dtypes) == MOST_HELD + 1
    held = [weakref.ref(get(store, bert_folder, layers=[1], dtype=dtype)) for dtype in dtypes[:-1]]
    assert get(store, bert_folder, layers=[1], dtype=dtypes[0]) is held[0]()  # used again
    get(store, bert_folder, layers=[1], dtype=dtypes[-1])
    gc.collect()
    assert held[0]() is not None
    assert held[1]() is None


def test_a_changed_folder_is_loaded_anew(
    store: EncoderStore, bert_folder: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(bert_folder, tmp_path / "model"))
    first = get(store, str(folder), layers=[2])
    shutil.copy(bert_folder + "/model.safetensors", folder / "new").replace(
        folder / "model.safetensors"
    )
    assert get(store, str(folder), layers=[2]) is not first


def test_a_bundled_encoder_is_the_same_by_name_by_path_and_as_a_copy(
    store: EncoderStore, tmp_path: Path
) -> None:
    copy = shutil.copytree(embedded.SMALL, tmp_path / "copy")
    other = shutil.copytree(embedded.SMALL, tmp_path / "other")
    rewrite(other / "config.json", layer_norm_eps=1e-11)
    models = [str(embedded.SMALL), "embedded-small", str(copy), str(other)]
    loaded = [store.get(EstimeConfig(model=model)) for model in models]
    assert [config.distance for _, config in loaded] == [2, 2, 2, 8]
    assert [encoder.info.is_bundled for encoder, _ in loaded] == [True, True, True, False]
    assert loaded[0][0] is loaded[1][0]
    assert type(loaded[2][0].tokenizer) is type(loaded[1][0].tokenizer)  # ours, not `transformers`'
    with pytest.raises(ValueError, match=r"the layers of 'embedded-small', but got 7"):
        store.get(EstimeConfig(model="embedded-small", layers=7))


def test_threads_share_one_load_and_agree(
    store: EncoderStore, bert_folder: str, loads: list[str]
) -> None:
    def work(_: int) -> torch.Tensor:
        encoder = get(store, bert_folder, layers=[1, 3])
        return torch.cat(encoder.encode(masked_texts(encoder, TEXTS), [1, 3]), dim=1)

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(work, range(4))
    assert len(loads) == 1
    assert all(torch.equal(states, first) for states in others)
