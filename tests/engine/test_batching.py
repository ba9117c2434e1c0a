"""Windows to batches: nothing lost, the budget kept, each state sent to its row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estime_metric.engine.batching import Job, SpecialTokens, assemble, jobs_of, pack
from estime_metric.engine.masking import MaskedText, plan_token_windows
from estime_metric.engine.text import occurring, tokenize

SPECIAL = SpecialTokens(before=(101,), after=(102, 103), mask=104, padding=100)


def masked_text(length: int, wanted: list[int] | None = None, first_id: int = 1000, **setting: int) -> MaskedText:
    """A text of ids that count up from ``first_id``, so that each id tells its position."""
    wanted = list(range(length)) if wanted is None else wanted
    setting = {"window": 30, "margin": 5, "distance": 4, **setting}
    return MaskedText(
        np.arange(first_id, first_id + length), plan_token_windows(length, wanted, **setting), len(wanted)
    )


@given(st.lists(st.integers(1, 60), max_size=80), st.integers(1, 300))
def test_packing_takes_each_once_and_keeps_the_budget(lengths: list[int], budget: int) -> None:
    lengths = sorted(lengths, reverse=True)
    batches = pack(lengths, budget)
    assert [number for batch in batches for number in batch] == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) >= 1
        padded = len(batch) * lengths[batch.start]
        assert padded <= budget or len(batch) == 1
    for batch in batches[:-1]:  # none is cut short
        assert (len(batch) + 1) * lengths[batch.start] > budget


def test_large_batches_end_where_padding_would_grow() -> None:
    lengths = sorted([*range(1, 400)] * 20, reverse=True)
    batches = pack(lengths, 65_536)
    assert [number for batch in batches for number in batch] == list(range(len(lengths)))
    filled = [len(batch) * lengths[batch.start] for batch in batches]
    assert max(filled) <= 65_536
    padding = 1 - sum(lengths) / sum(filled)
    assert padding < 0.04
    assert len(batches) < sum(lengths) / 3_000  # and yet no batch is small

    # The windows of one source and its summaries, at a CPU's budget.
    lengths = sorted([430] * 4 + [*range(50, 130, 5)] * 2, reverse=True)
    batches = pack(lengths, 2_000)
    filled = sum(len(batch) * lengths[batch.start] for batch in batches)
    assert 1 - sum(lengths) / filled < 0.06
    assert len(batches) < 10


@pytest.mark.parametrize("budget", [1, 40, 200, 10_000])
def test_every_position_is_masked_read_and_sent_to_its_row(budget: int) -> None:
    texts = [masked_text(12), masked_text(0), masked_text(70, first_id=2000), masked_text(9, [3, 8], first_id=3000)]
    jobs = jobs_of(texts)
    assert len(jobs) == sum(len(text.windows) for text in texts)
    assert all(len(a.window) >= len(b.window) for a, b in pairwise(jobs))
    assert all(job.offset == {1000: 0, 2000: 12, 3000: 82}[int(job.ids[0])] for job in jobs)
    ids_by_row = {}
    for numbers in pack([len(job.window) + SPECIAL.around for job in jobs], budget):
        chosen = [jobs[number] for number in numbers]
        batch = assemble(chosen, SPECIAL)
        assert batch.ids.shape == (len(chosen), max(len(job.window) for job in chosen) + 3)
        for row, job in enumerate(chosen):
            end = 1 + len(job.window)
            expected = job.ids[job.window.start : job.window.stop].copy()
            expected[[position - job.window.start for position in job.window.masked]] = SPECIAL.mask
            padding = [SPECIAL.padding] * (batch.ids.shape[1] - end - 2)
            assert batch.ids[row].tolist() == [101, *expected.tolist(), 102, 103, *padding]
            if batch.attended is None:
                assert not padding
            else:
                assert batch.attended[row].tolist() == [True] * (end + 2) + [False] * len(padding)
        assert (batch.ids[batch.row, batch.column] == SPECIAL.mask).all()
        assert batch.slot.tolist() == [slot for job in chosen for slot in range(len(job.window.read))]
        assert batch.most == max(batch.slot) + 1
        for row, column, target in zip(batch.row, batch.column, batch.target, strict=True):
            job = chosen[row]
            assert target not in ids_by_row
            ids_by_row[int(target)] = int(job.ids[job.window.start + column - 1])
    expected = [*range(1000, 1012), *range(2000, 2070), 3003, 3008]
    assert [ids_by_row[row] for row in range(len(expected))] == expected
    assert texts[0].ids.tolist() == list(range(1000, 1012))  # the text itself stays as it is


def test_there_is_no_attention_mask_where_nothing_is_padded_and_special_tokens_may_be_missing() -> None:
    text = masked_text(20)
    jobs = [Job(text.ids, window, 0) for window in text.windows]
    assert assemble(jobs, SPECIAL).attended is None
    short = masked_text(19)
    padded = assemble([*jobs, Job(short.ids, short.windows[0], 0)], SPECIAL).attended
    assert padded is not None
    assert padded.sum() == padded.size - 1
    bare = SpecialTokens(before=(), after=(), mask=104, padding=0)  # none on either side
    text = masked_text(5, distance=100)
    batch = assemble([Job(text.ids, text.windows[2], 0)], bare)
    assert batch.ids.tolist() == [[1000, 1001, 104, 1003, 1004]]
    assert (batch.row.tolist(), batch.column.tolist(), batch.target.tolist()) == ([0], [2], [2])


@pytest.mark.slow
def test_padding_stays_under_three_percent_on_real_texts(summeval, summeval_encoder) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(summeval_encoder("bert"))
    texts = []
    for source in dict.fromkeys(source for _, source in summeval):
        (units,) = tokenize([source], tokenizer)
        texts.append(MaskedText(units.ids, plan_token_windows(len(units), range(len(units))), len(units)))
        for summary in tokenize([summary for summary, of in summeval if of == source], tokenizer):
            wanted = np.flatnonzero(occurring(summary, units)).tolist()
            texts.append(MaskedText(summary.ids, plan_token_windows(len(summary), wanted), len(wanted)))
    jobs = jobs_of(texts)
    lengths = [len(job.window) + 2 for job in jobs]
    for budget in (2_000, 16_384, 65_536):
        filled = sum(len(batch) * lengths[batch.start] for batch in pack(lengths, budget))
        padding = 1 - sum(lengths) / filled
        print(f"padding at a budget of {budget}: {padding:.2%} of {filled} positions in {len(jobs)} windows")
        assert padding < 0.03
