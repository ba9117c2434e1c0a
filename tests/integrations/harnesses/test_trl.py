"""ESTIME as a reward: its range, its guards, one call for a batch, and TRL's trainer itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from estime_metric import EstimeScorer
from estime_metric.integrations.trl import estime_reward
from tests.integrations.conftest import Pairs, unzip
from tests.integrations.harnesses.pages import run_section


def test_messages_are_read(bert_folder: str, pairs: Pairs) -> None:
    summaries, sources = unzip(pairs[:4])
    reward = estime_reward(model=bert_folder)
    plain = reward(completions=summaries, source=sources)
    as_messages = [[{"role": "assistant", "content": text}] for text in summaries]
    in_parts = [
        [{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in summaries
    ]
    assert reward(completions=as_messages, source=sources) == pytest.approx(plain, abs=1e-6)
    assert reward(completions=in_parts, source=sources) == pytest.approx(plain, abs=1e-6)


def test_guards(bert_folder: str, pairs: Pairs) -> None:
    source = pairs[2][1]
    short_quotation = " ".join(source.split()[:3])
    reward = estime_reward(measure="alarm_rate", copy_penalty=0.5, model=bert_folder)
    unguarded = estime_reward(measure="alarm_rate", copy_penalty=0, model=bert_folder)
    completions = ["", " \n", source, short_quotation, "☃☃☃"]
    empty, blank, copied, quoted, unchecked = reward(
        prompts=[""] * 5, completions=completions, source=[source] * 5
    )
    free = unguarded(completions=completions, source=[source] * 5)
    assert empty == blank == reward.worst == -1.5
    assert copied == free[2] - 0.5
    assert quoted == free[3]
    assert unchecked == -1.0
    assert all(reward.worst <= value <= 0 for value in (empty, copied, quoted, unchecked))


def test_one_call_for_all_completions_and_a_shared_encoder(
    bert_folder: str, pairs: Pairs, scored: list[int]
) -> None:
    summaries, sources = unzip(pairs)
    scorer = EstimeScorer(model=bert_folder, cache=10**7)
    logged: dict[str, float] = {}
    reward = estime_reward(scorer=scorer)
    reward(completions=summaries, source=sources, log_metric=logged.__setitem__)
    assert scored == [16]
    assert set(logged) == {
        "estime/inconsistency",
        "estime/copied_density",
        "estime/alarms",
        "estime/blank",
    }
    assert reward.scorer.encoder is scorer.encoder
    assert reward.scorer.cache is scorer.cache


def test_errors(bert_folder: str) -> None:
    with pytest.raises(ValueError, match="column 'source'"):
        estime_reward(model=bert_folder)(completions=["A summary."], text=["A source."])
    for options in (
        {"measure": "alarms"},
        {"measure": "inconsistancy"},
        {"copy_penalty": -1},
        {"free_copy": -1},
    ):
        with pytest.raises(ValueError, match=f"`{next(iter(options))}`"):
            estime_reward(**options)


@pytest.mark.slow
def test_the_page(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    trained, shown = run_section("TRL", tmp_path)
    *rewards, signature = trained.splitlines()[-4:]
    assert all(-2 <= float(reward) <= 0 for reward in rewards)
    assert signature.startswith("ESTIME|model:embedded@")
    own, copied, empty = (float(line.split()[0]) for line in shown.splitlines())
    assert empty == -2.0
    assert copied == -1.0
    assert own > copied
