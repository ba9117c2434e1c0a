"""The function gives what the class gives."""

from __future__ import annotations

import pytest
import torch

from estime_metric import EstimeScorer, estime

OPTIONS = {"layers": [1, 3], "window": 60, "margin": 10, "distance": 4, "device": "cpu"}


def test_it_gives_what_the_class_gives(bert_folder: str, pairs: list[tuple[str, str]]) -> None:
    summaries, sources = map(list, zip(*pairs, strict=True))
    one = estime(summaries, sources, model=bert_folder, **OPTIONS)
    another = EstimeScorer(model=bert_folder, **OPTIONS).score(summaries, sources)
    assert one.signature == another.signature
    for measure in ("alarms", "winners", "overlap", "tokens", "alarm_rate"):
        for layer in (1, 3):
            assert torch.equal(one.values(measure, layer), another.values(measure, layer))


def test_every_option_arrives(bert_folder: str) -> None:
    signature = estime(["the cat"], ["the cat"], model=bert_folder, normalize=True, **OPTIONS).signature
    assert "|layers:1,3|unit:token|window:60|margin:10|distance:4|normalize:yes|dtype:float32|" in signature


def test_a_bad_option_or_text_is_refused_by_name(bert_folder: str) -> None:
    with pytest.raises(TypeError, match="but got `windows`"):
        estime(["a"], ["a"], windows=3)
    with pytest.raises(ValueError, match="`layers` to lie within"):
        estime(["a"], ["a"], model=bert_folder, layers=99)
    with pytest.raises(TypeError, match="`sources` to hold strings only, but got int at index 0"):
        estime(["a"], [1], model=bert_folder)  # type: ignore[list-item]
