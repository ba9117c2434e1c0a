"""The cache of source embeddings: bounded, keyed by content and configuration, and of use in a loop
over more sources than fit.
"""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
import torch

from estime_metric import EstimeScorer
from estime_metric.engine.cache import DEFAULT_CACHE, SourceCache, source_key
from estime_metric.engine.embedding import unload_encoders
from estime_metric.engine.units import Units, units_of
from estime_metric.wording.source import SourceWording
from tests.families import make_pairs
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


def units(number: int, characters: int = 10) -> Units:
    """The units of a source."""
    one = np.array([number])
    return Units("x" * characters, one, one, one, np.array([[0, 1]]), one, one, one > 0)


def test_embeddings_make_room_for_units_and_both_for_what_is_new() -> None:
    size = units(0).nbytes
    cache = SourceCache(memory_bytes=6 * size)
    for number in range(3):
        cache.put(key(number), entry(number, floats=size // 2))  # 2 * size
    for number in range(4):
        cache.put_units(key(number), units(number))
    assert len(cache) == 1  # 2 * size, and four units
    cache.put(key(9), entry(9, floats=size))  # larger than what units leave
    assert cache.get(key(9)) is None
    for number in range(4, 200):
        cache.put_units(key(number), units(number))
        cache.put(key(number), entry(number))  # takes no turn of the units
        kept = [other for other in range(200) if cache.get_units(key(other)) is not None]
        assert len(kept) * size + bytes_in(cache, range(10)) <= 6 * size
    assert len(kept) == 6
    assert len(cache) == 0
    assert max(kept) > 20  # the data may change
    stored = cache.get_units(key(kept[0]))
    assert stored is not None
    assert stored.tokens.tolist() == [kept[0]]
    cache.put_units(key(0), units(0, characters=10 * size))  # larger than the whole
    assert cache.get_units(key(0)) is None
    cache.clear()
    assert not any(cache.get_units(key(number)) for number in range(200))


@pytest.mark.parametrize("share", [0.2, 0.7, 1.0])
def test_epochs_with_a_cache_that_is_too_small_are_right_and_prepare_no_source_in_vain(
    bert_folder: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = make_pairs(*((start, start + 4) for start in range(14)))[:15]  # of 15 sources
    preds, sources = zip(*pairs, strict=True)
    scorer = EstimeScorer(model=bert_folder)
    expected = scorer.score(preds, sources)
    tokenized = units_of(sources, scorer.resolved_config, scorer.encoder.tokenizer)
    of_units = sum(source.nbytes for source in tokenized)
    of_embeddings = sum(map(len, tokenized)) * scorer.bytes_per_unit
    cache = SourceCache(memory_bytes=int(share * (of_units + of_embeddings)))
    prepared: list[str] = []
    prepare = SourceWording.__init__
    monkeypatch.setattr(
        SourceWording,
        "__init__",
        lambda wording, text: prepared.append(text) or prepare(wording, text),
    )
    numbers = []
    for _ in range(3):
        prepared.clear()
        for start in range(0, len(pairs), 4):
            part = slice(start, start + 4)
            result = EstimeScorer(model=bert_folder, cache=cache).score(preds[part], sources[part])
            assert_same(expected, result, [*range(len(pairs))[part]])
            assert torch.equal(result["new_words"], expected["new_words"][part])
        numbers.append(len(prepared))
    assert numbers[0] == len(pairs)
    if of_units <= cache.memory_bytes:
        assert numbers[1:] == [0, 0]
    else:
        assert 0 < numbers[2] < numbers[0]


def test_functions_of_the_user_split_and_tag_in_every_call(bert_folder: str) -> None:
    called: list[str] = []

    def splitter(text: str) -> list[str]:
        called.append(text)
        return text.split()

    scorer = EstimeScorer(model=bert_folder, unit="word", splitter=splitter, cache=10**8)
    for _ in range(2):
        called.clear()
        scorer.score(["A cat slept."], ["A cat slept in the sun."])
        assert sorted(called) == ["A cat slept in the sun.", "A cat slept."]


@pytest.mark.parametrize(("share", "hits"), [(0.25, 0.2), (0.5, 0.47), (0.75, 0.73), (1, 1)])
@pytest.mark.parametrize("are_shuffled", [False, True])
def test_a_loop_over_more_sources_than_fit_finds_nearly_those_that_fit(
    are_shuffled: bool, share: float, hits: float
) -> None:
    def epochs(sources: range, number: int) -> list[float]:
        """The share of hits in each epoch."""
        shares, names = [], list(sources)
        for _ in range(number):
            if are_shuffled:
                random.shuffle(names)
            shares.append(float(np.mean([request(cache, name) for name in names])))
        return shares

    sources, others = range(200), range(1000, 1200)
    cache = SourceCache(memory_bytes=int(1000 * share * len(sources)))
    first, *later = epochs(sources, 12)
    assert first == 0
    assert np.mean(later) == pytest.approx(hits, abs=0.01)
    first, *later = epochs(others, 30)
    assert first == 0
    assert later[-1] > 0.7 * share  # the data may change


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
