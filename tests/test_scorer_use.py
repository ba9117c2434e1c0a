"""The scorer in its caller's hands: when it loads and releases, what it leaves untouched, what it
refuses.
"""

from __future__ import annotations

import gc
import math
import pickle
import random
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from estime_metric import ESTIME, EstimeConfig, EstimeScorer
from tests.test_scorer import SHORT, Pairs, assert_same, scorer, split

__all__ = ["scorer"]  # a fixture


@pytest.mark.parametrize("make", [EstimeScorer, ESTIME])
def test_a_model_that_certainly_does_not_exist_is_refused_when_it_is_named(
    make: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("embeded", "embedded_small", "Embedded", "papers"):
        with pytest.raises(OSError, match=r"there is no such encoder\. Did you mean model='(e|p)"):
            make(model=name)
    with pytest.raises(OSError, match="there is no such folder"):
        make(model="./nothing")
    for name in ("nobody/nothing", "me/embedded"):
        make(model=name)  # the Hub may have it
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(OSError, match="cannot be loaded"):
        make(model="nobody/nothing")
    with pytest.raises(TypeError, match="Did you mean model='embedded-small'"):
        make("embedded-small")


@pytest.mark.parametrize(
    ("method", "predictions", "sources", "message"),
    [
        ("score", ["a", "b"], ["a", math.nan], "`sources` to contain only .* got float at index 1"),
        ("score", ["a"], [" \n"], r"`sources` to contain words, but got ' \\n' at index 0"),
        ("score_candidates", "b", "a", "`predictions` to be a list of strings"),
        ("score_candidates", ["a"], "... !", "`source` to contain words, but got '... !'"),
        ("explain_pairs", ["a"], ["—"], "`sources` to contain words, but got '—' at index 0"),
        ("score", ["a"], [["a", 3]], "the list contains an element of type int at index 0"),
        ("explain", "a", 3, "`source` to be a str, but got int"),
        ("explain", "a", [{"text": "a"}], "an element of type dict without the keys 'id'"),
        ("explain", "a", "\u200b", "`source` to contain words, but got"),
    ],
)
def test_bad_input_is_refused_before_anything_is_loaded(
    method: str, predictions: object, sources: object, message: str, tmp_path: Path
) -> None:
    scorer = EstimeScorer(model=str(tmp_path))  # a folder without an encoder
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(scorer, method)(predictions, sources)


def test_unloading_frees_an_unshared_encoder_and_the_next_use_loads_it(
    bert_folder: str, pairs: Pairs
) -> None:
    scorer = EstimeScorer(model=bert_folder, layers=[1], dtype="bfloat16", device="cpu", **SHORT)
    another = EstimeScorer(EstimeConfig(**vars(scorer.config)), distance=3)
    before = scorer.score(*split(pairs[:3]))
    watched = weakref.ref(scorer.encoder)
    assert another.encoder is scorer.encoder
    scorer.unload()
    gc.collect()
    assert another.score(["the cat"], ["the cat"]).values("tokens").tolist() == [2.0]
    another.unload()
    gc.collect()
    assert watched() is None
    assert_same(before, scorer.score(*split(pairs[:3])))


def test_sources_that_are_mostly_shorter_than_their_summaries_warn(scorer: EstimeScorer) -> None:
    summary, source = "The cat sat.", "The cat sat on the mat while the dog slept."
    with pytest.warns(RuntimeWarning, match="their summaries, so the two may have been swapped"):
        result = scorer.score([source, source, summary], [summary, summary, source])
    assert list(result.input_warnings.values()) == [2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scorer.score([source, summary], [summary, source])  # as many
        scorer.score([summary], [summary])
        scorer.score([], [])


def test_a_scorer_may_be_pickled(scorer: EstimeScorer, pairs: Pairs) -> None:
    expected = scorer.score(*split(pairs[:4]))
    stored = pickle.dumps(scorer)
    assert len(stored) < 2_000  # no weights
    restored = pickle.loads(stored)
    assert restored.config == scorer.config
    assert_same(expected, restored.score(*split(pairs[:4])))
    assert pickle.loads(pickle.dumps(expected)).signature == expected.signature


def test_gradients_and_seeds_of_the_caller_stay(scorer: EstimeScorer, pairs: Pairs) -> None:
    modes: set[tuple[bool, bool]] = set()

    def observe(_: int) -> None:
        modes.add((torch.is_inference_mode_enabled(), torch.is_grad_enabled()))

    state = torch.random.get_rng_state()
    values = scorer.score(*split(pairs[:2]), progress=observe).values("alarms", 1)
    observe(0)
    assert modes == {(False, True)}
    assert torch.equal(state, torch.random.get_rng_state())
    assert values.dtype == torch.float64
    ones = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert (values * ones).requires_grad  # no inference tensor


def test_the_progress_bar_counts_pairs_on_stderr_only_if_asked(
    scorer: EstimeScorer, pairs: Pairs, capsys
) -> None:
    scorer.score(*split(pairs))
    assert capsys.readouterr() == ("", "")
    blank = [("", "The cat sat."), (" ", "A dog.")]  # the encoder sees nothing of them
    scorer.score(*split([*pairs, *blank]), progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "18/18" in shown.err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:dtype='bfloat16' is slower:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:The texts do not seem to be in English:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_a_budget_changes_was_counted(dtype: str) -> None:
    """Of nearly equal words, odd characters and a word again and again, in sources of any length."""
    rng = random.Random(0)
    words = [
        "colour",
        "color",
        "colors",
        "1999",
        "1998",
        "1,999",
        "walk",
        "walks",
        "walked",
        "naïve",
        "北京",
        "😀",
    ]
    sources = [" ".join(rng.choices(words, k=k)) for k in (1, 3, 40, 80, 120, 600)]
    summaries = [" ".join(rng.choices(words, k=25)) for _ in sources]
    options = {"layers": (3, 6), "distance": 2, "measures": ("coherence", "alarms_alltokens")}
    first, second = (
        EstimeScorer(
            model="embedded-small", device="cpu", dtype=dtype, token_budget=budget, **options
        ).score(summaries, sources)
        for budget in (100, 8_000)
    )
    changed = 0
    for layer in first.layers:
        for measure in ("alarms", "winners", "alarms_alltokens"):
            change = (first.values(measure, layer) - second.values(measure, layer)).abs().sum()
            assert change <= max(first.ties(layer, measure), second.ties(layer, measure))
            changed += int(change)
        order = first.values("coherence", layer) != second.values("coherence", layer)
        assert order.sum() <= max(first.ties(layer, "coherence"), second.ties(layer, "coherence"))
        assert torch.equal(first.values("overlap", layer), second.values("overlap", layer))
        assert first.ties(layer, "overlap") == 0
        assert first.ties(layer, "unsupported_rate") == first.ties(layer)
    assert dtype == "float32" or changed > 0  # or there was nothing to count
