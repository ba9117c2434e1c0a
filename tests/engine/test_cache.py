"""The cache of source embeddings: bounded, keyed by content and configuration, and of use in a loop
over more sources than fit.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache, source_key
from estime_metric.engine.embedding import unload_encoders
from tests.test_scorer import assert_same, encoded

__all__ = ["encoded"]  # a fixture

Pairs = list[tuple[str, str]]


def key(number: int) -> str:
    return source_key("signature", np.array([number]))


def entry(number: float, floats: int = 250) -> torch.Tensor:
    return torch.full((1, 1, floats), number, dtype=torch.float32)


def request(cache: SourceCache, name: object) -> bool:
    """Asks for a source of 1,000 bytes as scoring does, and stores it if there is none; whether there
    was one.
    """
    entry_key = source_key(repr(name))
    if cache.get(entry_key) is not None:
        return True
    cache.put(entry_key, entry(0))
    return False


def bytes_in(cache: SourceCache, numbers: range) -> int:
    """The bytes of the entries that the cache has of some numbers."""
    stored = (cache.get(key(number)) for number in numbers)
    return sum(embeddings.nbytes for embeddings in stored if embeddings is not None)


def test_memory_is_bounded_whatever_the_sizes() -> None:
    cache, sizes = SourceCache(memory_bytes=3000), random.Random(1)
    for number in range(200):
        cache.put(key(number % 50), entry(number, floats=sizes.randint(1, 800)))
        assert 0 < bytes_in(cache, range(50)) <= 3000
    cache.clear()
    assert len(cache) == bytes_in(cache, range(50)) == 0
    for number in range(3):  # there is room for as many as before
        cache.put(key(number), entry(number))
    assert bytes_in(cache, range(3)) == 3000


def test_what_is_returned_is_what_was_put() -> None:
    cache = SourceCache(memory_bytes=3000)
    with torch.inference_mode():
        whole = torch.randn(1, 4, 250).to(torch.bfloat16)
        cache.put(key(0), whole[:, :2])
        expected = whole[:, :2].clone()
        whole += 1  # what is stored is not a view of it
    stored = cache.get(key(0))
    assert stored is not None
    assert torch.equal(stored, expected)
    assert (stored.dtype, stored.untyped_storage().nbytes()) == (torch.bfloat16, stored.nbytes)
    cache.put(key(0), entry(7))  # the same key again
    assert torch.equal(cache.get(key(0)), entry(7))  # type: ignore[arg-type]
    assert len(cache) == 1
    cache.put(key(1), entry(1, floats=751))  # larger than the whole
    assert cache.get(key(1)) is None
    assert (cache.hits, cache.misses) == (2, 1)


def in_turn(sources: list[object]) -> list[object]:
    return sources


def shuffled(sources: list[object]) -> list[object]:
    return random.sample(sources, len(sources))


@pytest.mark.parametrize(("share", "hits"), [(0.25, 0.21), (0.5, 0.48), (0.75, 0.74), (1, 1)])
@pytest.mark.parametrize("order", [in_turn, shuffled])
def test_a_loop_over_more_sources_than_fit_finds_nearly_those_that_fit(
    order: Callable[[list[object]], list[object]], share: float, hits: float
) -> None:
    def epochs(sources: range, number: int) -> list[float]:
        """The share of hits in each epoch."""
        return [
            float(np.mean([request(cache, name) for name in order(list(sources))]))
            for _ in range(number)
        ]

    sources, others = range(200), range(1000, 1200)
    cache = SourceCache(memory_bytes=int(1000 * share * len(sources)))
    first, *later = epochs(sources, 12)
    assert first == 0
    assert np.mean(later) == pytest.approx(hits, abs=0.03)
    first, *later = epochs(others, 30)
    assert first == 0
    assert later[-1] > 0.7 * share  # the data may change


def test_the_victims_come_from_a_generator_of_the_cache() -> None:
    state = random.getstate()
    first, second = (SourceCache(memory_bytes=3000) for _ in range(2))
    for cache in (first, second):
        for number in range(200):
            request(cache, number)
    assert random.getstate() == state
    assert first._entries.keys() == second._entries.keys()


def test_the_default_is_one_cache_for_each_process() -> None:
    assert DEFAULT_CACHE.memory_bytes == 10**9
    assert pickle.loads(pickle.dumps(DEFAULT_CACHE)) is DEFAULT_CACHE
    assert copy.deepcopy(DEFAULT_CACHE) is DEFAULT_CACHE
    DEFAULT_CACHE.put(key(0), entry(0))
    assert len(pickle.dumps(DEFAULT_CACHE)) < 200  # nothing of what it has
    unload_encoders()
    assert len(DEFAULT_CACHE) == 0


@pytest.mark.parametrize(
    ("cache", "error", "message"),
    [
        (True, TypeError, "`cache` to be bytes of memory, a SourceCache or None"),
        ("source-embeddings", TypeError, "no longer kept in a folder"),
        (-1, ValueError, "`cache` to be at least 0, but got -1"),
    ],
)
def test_what_cannot_be_a_cache_is_refused(
    cache: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        SourceCache.of(cache)  # type: ignore[arg-type]


def test_what_users_may_pass() -> None:
    cache = SourceCache(memory_bytes=5)
    assert SourceCache.of(None) is None
    assert SourceCache.of(cache) is copy.deepcopy(cache) is cache
    assert SourceCache.of(np.int64(100)).memory_bytes == 100  # type: ignore[union-attr, arg-type]
    assert repr(pickle.loads(pickle.dumps(cache))) == "SourceCache(memory_bytes=5)"


def test_keys_identify_all_parts() -> None:
    ids = np.array([1, 2])
    others = ((ids,), (ids[:1], ids[1:]), (ids, ids[:0]), (ids[None],), (ids.astype(np.int32),))
    keys = [source_key("b", ids), *(source_key("a", *arrays) for arrays in others)]
    assert len(set(keys)) == len(keys)
    assert keys[1] == source_key("a", ids.copy())


@pytest.mark.slow
def test_only_summaries_are_encoded_again_and_no_configuration_takes_the_embeddings_of_another(
    bert_folder: str, pairs: Pairs, encoded: list[list[Any]]
) -> None:
    preds, sources = zip(*pairs[:9], strict=True)
    different, different_sources = len(set(pairs[:9])), len(set(sources))
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
        expected = EstimeScorer(**options).score(preds, sources)
        encoded.clear()
        for _ in range(2):
            assert_same(EstimeScorer(**options, cache=cache).score(preds, sources), expected)
        assert [len(texts) for texts in encoded] == [different_sources + different, different]
