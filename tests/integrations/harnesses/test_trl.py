"""ESTIME as a reward: its range, its guards, one call for a batch, and TRL's trainer itself."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.integrations.trl import estime_reward
from tests.integrations.conftest import Pairs, unzip
from tests.integrations.harnesses.pages import run_section


def test_one_call_for_all_completions_and_a_shared_encoder(
    bert_folder: str, pairs: Pairs, scored: list[int]
) -> None:
    summaries, sources = unzip(pairs)
    scorer = EstimeScorer(model=bert_folder, cache=10**7)
    logged: dict[str, float] = {}
    reward = estime_reward(scorer=scorer)
    plain = reward(completions=summaries, source=sources, log_metric=logged.__setitem__)
    assert scored == [16]
    names = ("inconsistency", "copied_density", "alarms", "blank")
    assert set(logged) == {f"estime/{name}" for name in names}
    assert reward.scorer.encoder is scorer.encoder
    assert reward.scorer.cache is scorer.cache
    for content in (str, lambda text: [{"type": "text", "text": text}]):
        messages = [[{"role": "assistant", "content": content(text)}] for text in summaries]
        assert reward(completions=messages, source=sources) == pytest.approx(plain, abs=1e-6)


def test_guards(bert_folder: str, pairs: Pairs) -> None:
    source = pairs[2][1]
    completions = [" \n", source, " ".join(source.split()[:3]), "☃☃☃"]
    rewards = {}
    for penalty in (0.5, 0):
        reward = estime_reward(measure="alarm_rate", copy_penalty=penalty, model=bert_folder)
        rewards[penalty] = reward(completions=completions, source=[source] * 4)
    blank, copied, quoted, unchecked = rewards[0.5]
    assert blank == -1.5
    assert copied == rewards[0][1] - 0.5
    assert quoted == rewards[0][2]
    assert unchecked == -1.0


def test_errors(bert_folder: str) -> None:
    with pytest.raises(ValueError, match="column 'source'"):
        estime_reward(model=bert_folder)(completions=["A summary."], text=["A source."])
    for options in ({"measure": "alarms"}, {"copy_penalty": -1}, {"free_copy": -1}):
        for value in (*options.values(), math.nan):
            with pytest.raises(ValueError, match=f"`{next(iter(options))}`"):
                estime_reward(**dict.fromkeys(options, value))


def test_a_mean_of_no_values_is_not_logged(bert_folder: str, pairs: Pairs) -> None:
    logged: dict[str, float] = {}
    reward = estime_reward(measure="alarm_rate", model=bert_folder)
    reward(completions=["☃☃☃"], source=[pairs[2][1]], log_metric=logged.__setitem__)
    assert set(logged) == {"estime/copied_density", "estime/alarms", "estime/blank"}


@pytest.mark.slow
def test_the_page(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    (printed,) = run_section("training.md", "TRL", tmp_path)
    reward, signature = printed.splitlines()[-1].split(" ", 1)
    assert -2 <= float(reward) <= 0
    assert "|min_tokens:4|" in signature
