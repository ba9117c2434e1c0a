"""The cache of source embeddings: bounded, keyed by content and configuration, shared on disk,
checked when read.
"""

from __future__ import annotations

import copy
import os
import pickle
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric.engine import cache as cache_module
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache, source_key, unload_encoders
from tests.test_scorer import assert_same, encoded

__all__ = ["encoded"]  # a fixture

Pairs = list[tuple[str, str]]


def key(number: int) -> str:
    return source_key("signature", np.array([number]))


def entry(number: float, floats: int = 250, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.full((1, 1, floats), number, dtype=dtype)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.source.safetensors"))


def request(cache: SourceCache, name: object, floats: int = 250) -> bool:
    """Asks for a source as scoring does, and stores it if there is none; whether there was one."""
    entry_key = source_key(repr(name))
    if cache.get(entry_key) is not None:
        return True
    cache.put(entry_key, entry(0, floats))
    return False


def test_memory_is_bounded_and_a_source_that_is_used_stays() -> None:
    cache = SourceCache(memory_bytes=3000)
    for number in range(3):
        cache.put(key(number), entry(number))
    cache.put(key(3), entry(3))  # requested no more often than the others
    assert len(cache) == 3
    assert [cache.get(key(number)) is not None for number in range(5)] == [True] * 4 + [False]
    cache.put(key(4), entry(4))
    assert cache.get(key(3)) is None  # only the newest stays in addition
    cache.put(key(9), entry(9, floats=751))  # larger than the whole
    assert cache.get(key(9)) is None
    assert cache.get(key(4)) is not None
    cache.put(key(0), entry(7, floats=250))  # the same key again
    assert torch.equal(cache.get(key(0)), entry(7))  # type: ignore[arg-type]
    assert len(cache) == 3
    cache.clear()
    assert len(cache) == 0
    assert [cache.get(key(number)) for number in range(5)] == [None] * 5


def test_a_large_source_displaces_as_many_as_it_needs_or_none() -> None:
    cache = SourceCache(memory_bytes=3000)
    for name in "abc":
        request(cache, name)
    for epoch in range(3):
        assert not request(cache, "other", floats=750)
        assert request(cache, "c")
        assert len(cache) == 3
        assert not request(cache, "large", floats=500), epoch
    assert len(cache) == 2  # "large" and "c"
    assert request(cache, "c")
    assert not request(cache, "newest", floats=250)
    assert not request(cache, "other", floats=750)  # it would need the place of "c" too
    assert request(cache, "large")


def in_turn(sources: list[object]) -> list[object]:
    return sources


def three_candidates(sources: list[object]) -> list[object]:
    """Each source in three updates in a row."""
    return [source for source in sources for _ in range(3)]


def two_metrics(sources: list[object]) -> list[object]:
    """Two metrics of different settings, batch by batch."""
    return [
        (metric, source)
        for batch in range(0, len(sources), 4)
        for metric in range(2)
        for source in sources[batch : batch + 4]
    ]


def two_equal_metrics(sources: list[object]) -> list[object]:
    """Two metrics of the same settings, batch by batch, so that they share their keys."""
    return [source for _, source in two_metrics(sources)]  # type: ignore[misc]


@pytest.mark.parametrize("share", [0.01, 0.25, 0.75])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("requested", [in_turn, three_candidates, two_metrics, two_equal_metrics])
def test_a_loop_over_more_sources_than_fit_finds_those_that_fit(
    requested: Callable[[list[object]], list[object]], shuffled: bool, share: float
) -> None:
    sources: list[object] = list(range(200))
    keys = len(set(requested(sources)))
    fit = int(share * keys)
    cache = SourceCache(memory_bytes=1000 * fit + 999)

    def hits(sources: list[object]) -> int:
        """How many sources are found when they are requested first in an epoch."""
        order = random.sample(sources, len(sources)) if shuffled else sources
        first: dict[object, bool] = {}
        for name in requested(order):
            first.setdefault(name, request(cache, name))
        assert len(cache) == fit
        return sum(first.values())

    epochs = [hits(sources) for _ in range(6)]
    assert epochs[0] == 0
    assert min(epochs[1 if requested is in_turn else 2 :]) >= fit
    others: list[object] = list(range(1000, 1200))
    changed = [hits(others) for _ in range(7)]
    assert changed[0] == 0
    assert min(changed[4:]) >= fit


def test_a_stream_that_never_repeats_displaces_nothing_and_is_bounded() -> None:
    cache = SourceCache(memory_bytes=3000)
    with mock.patch.object(cache_module, "_MOST_KNOWN", 50):
        assert not any(request(cache, number) for number in range(500))
        assert all(request(cache, number) for number in (0, 1, 2))
        assert len(cache._requests) == 50
    assert len(cache) == 3


def test_the_default_is_one_cache_for_each_process() -> None:
    assert DEFAULT_CACHE.memory_bytes == 10**9
    assert pickle.loads(pickle.dumps(DEFAULT_CACHE)) is DEFAULT_CACHE
    assert copy.deepcopy(DEFAULT_CACHE) is DEFAULT_CACHE
    DEFAULT_CACHE.put(key(0), entry(0))
    assert len(pickle.dumps(DEFAULT_CACHE)) < 200  # nothing of what it holds
    unload_encoders()
    assert len(DEFAULT_CACHE) == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 0, 4)])
def test_a_folder_returns_what_was_put(
    tmp_path: Path, dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    whole = torch.randn(shape).to(dtype).repeat(1, 3, 1)
    expected = whole[:, : shape[1]].clone()
    cache = SourceCache(10_000, folder=tmp_path / "made" / "for it")
    with torch.inference_mode():
        cache.put(key(0), whole[:, : shape[1]])
    whole += 1  # what is stored is its own
    other = SourceCache(10_000, folder=tmp_path / "made" / "for it")
    for stored in (cache.get(key(0)), other.get(key(0))):
        assert stored is not None
        assert (stored.dtype, stored.shape) == (dtype, shape)
        assert torch.equal(stored, expected)
        assert stored.untyped_storage().nbytes() == stored.nbytes


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[:-10],
    "one bit": lambda content: content[:-5] + bytes([content[-5] ^ 1]) + content[-4:],
    "header": lambda content: b"\xff" * 8 + content[8:],
}


@pytest.mark.parametrize("damage", [*DAMAGES, "another name"])
def test_a_damaged_entry_is_removed_and_a_lack_of_memory_is_no_damage(
    tmp_path: Path, damage: str
) -> None:
    cache = SourceCache(folder=tmp_path)
    cache.put(key(damage == "another name"), entry(0))
    (file,) = files(tmp_path)
    file = file.rename(tmp_path / f"{key(0)}.source.safetensors")
    file.write_bytes(DAMAGES.get(damage, bytes)(file.read_bytes()))
    with pytest.warns(
        RuntimeWarning, match=r"is damaged\. It was removed, and its source will be encoded again"
    ):
        assert cache.get(key(0)) is None
    assert not file.exists()
    cache.put(key(0), entry(0))
    for error in (MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")):
        with mock.patch.object(cache_module, "load", side_effect=error):
            assert cache.get(key(0)) is None
    assert torch.equal(cache.get(key(0)), entry(0))  # type: ignore[arg-type]


def test_a_folder_is_bounded_and_foreign_files_are_left_alone(tmp_path: Path) -> None:
    foreign = [tmp_path / "model.safetensors", tmp_path / "notes.part"]
    for file in foreign:
        file.write_bytes(b"0" * 50_000)
    abandoned, recent = tmp_path / "abc.source.part", tmp_path / "abd.source.part"
    for file in (abandoned, recent):
        file.write_bytes(b"0")
    os.utime(abandoned, (0, 0))
    cache = SourceCache(folder=tmp_path, folder_bytes=20_000)
    for number in range(40):
        cache.put(key(number), entry(number))
        os.utime(
            tmp_path / f"{key(number)}.source.safetensors",
            (time.time(), time.time() - 100 + number),
        )
        if number > 5:
            assert cache.get(key(3)) is not None  # used again and again
    assert sum(file.stat().st_size for file in files(tmp_path)) <= 20_000
    assert len(files(tmp_path)) > 10
    assert cache.get(key(39)) is not None
    assert cache.get(key(10)) is None
    assert all(file.exists() for file in [*foreign, recent])
    assert not abandoned.exists()
    cache.put(key(50), entry(0, floats=5001))  # larger than the whole
    assert cache.get(key(50)) is None
    cache.clear()
    assert files(tmp_path) == []
    assert all(file.exists() for file in foreign)


def test_a_folder_that_cannot_be_written_is_warned_of_once(tmp_path: Path) -> None:
    cache = SourceCache(folder=tmp_path)
    with mock.patch("os.replace", side_effect=OSError("No space left on device")):
        with pytest.warns(
            RuntimeWarning, match=r"could not be written to .*: No space left on device"
        ):
            cache.put(key(0), entry(0))
        cache.put(key(1), entry(1))  # not warned of again
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.warns(RuntimeWarning, match=r"could not be written to .*file: .*File exists"):
        SourceCache(folder=tmp_path / "file").put(key(0), entry(0))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        *(
            (
                partial(SourceCache.of, cache),
                TypeError,
                "`cache` to be bytes of memory, a folder, a S",
            )
            for cache in (1.5, True, [1])
        ),
        (partial(SourceCache.of, -1), ValueError, "`cache` to be at least 0, but got -1"),
        (partial(SourceCache, -1), ValueError, "`memory_bytes` to be at least 0"),
        (partial(SourceCache, folder_bytes=0.5), TypeError, "`folder_bytes` to be an integer"),
    ],
)
def test_what_is_no_cache_is_refused(
    make: Callable[[], SourceCache], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


def test_what_users_may_pass(tmp_path: Path) -> None:
    cache = SourceCache(memory_bytes=5, folder=tmp_path, folder_bytes=7)
    assert SourceCache.of(None) is None
    assert SourceCache.of(cache) is copy.deepcopy(cache) is cache
    assert SourceCache.of(np.int64(100)).memory_bytes == 100  # type: ignore[union-attr, arg-type]
    assert SourceCache.of(str(tmp_path)).folder == tmp_path  # type: ignore[union-attr]
    restored = pickle.loads(pickle.dumps(cache))
    limits = f"SourceCache(memory_bytes=5, folder={str(tmp_path)!r}, folder_bytes=7)"
    assert repr(restored) == limits


def test_keys_tell_all_parts_apart() -> None:
    ids = np.array([1, 2])
    others = ((ids[:1], ids[1:]), (ids, ids[:0]), (ids[None],), (ids.astype(np.int32),))
    keys = [
        source_key("a", ids),
        source_key("b", ids),
        *(source_key("a", *arrays) for arrays in others),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == source_key("a", ids.copy())


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["token", "word"])
def test_the_second_time_only_summaries_are_encoded(
    bert_folder: str, pairs: Pairs, tmp_path: Path, encoded: list[list[Any]], unit: str
) -> None:
    summaries, sources = zip(*pairs[:9], strict=True)
    options = {"model": bert_folder, "unit": unit, "layers": [2, 4]}
    expected = EstimeScorer(**options).score(summaries, sources)
    encoded.clear()
    in_memory, in_folder, in_another_process = (
        EstimeScorer(**options, cache=cache) for cache in (10**8, tmp_path, tmp_path)
    )
    for scorer in (in_memory, in_memory, in_folder, in_folder, in_another_process):
        assert_same(scorer.score(summaries, sources), expected)
    first, second = len(set(sources)) + len(set(pairs[:9])), len(set(pairs[:9]))
    assert [len(texts) for texts in encoded] == [first, second, first, second, second]


@pytest.mark.slow
def test_no_configuration_takes_the_embeddings_of_another(bert_folder: str, pairs: Pairs) -> None:
    preds, sources = zip(*pairs[:9], strict=True)
    cache = SourceCache(memory_bytes=10**8)
    tags = {"tagger": lambda words: [word[0] for word in words], "drop_tags": {"t"}}
    for options in (
        {},
        {"layers": [2, 4]},
        {"unit": "word"},
        {"unit": "word", **tags},
        {"distance": 4},
    ):
        options = {"model": bert_folder, **options}
        before = cache.misses
        result = EstimeScorer(**options, cache=cache).score(preds, sources)
        assert_same(result, EstimeScorer(**options).score(preds, sources))
        assert cache.misses == before + len(set(sources)), options
