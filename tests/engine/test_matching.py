"""Best matches, alarms and winners against plain loops."""

from __future__ import annotations

import math

import pytest
import torch

from estime_metric.engine.matching import Matches, match


def naive(summary, source, summary_ids, source_ids) -> list[list[tuple[float, float, int]]]:
    """(s, o, winners) for each layer and summary unit, with float64 loops."""
    expected = []
    for layer in range(len(summary)):
        row = []
        for i, own in enumerate(summary_ids.tolist()):
            same, others = -math.inf, []
            for j, token in enumerate(source_ids.tolist()):
                dot = float(summary[layer, i].double() @ source[layer, j].double())
                if token == own:
                    same = max(same, dot)
                else:
                    others.append(dot)
            row.append((same, max(others, default=-math.inf), sum(dot > same for dot in others)))
        expected.append(row)
    return expected


def example(layers: int = 2, rows: int = 7, columns: int = 23, kinds: int = 5, width: int = 4):
    """Embeddings of small whole numbers, whose dot products are exact in float32, so that ties are
    real ties.
    """
    torch.manual_seed(rows + columns + kinds)
    return (
        torch.randint(-3, 4, (layers, rows, width)).float(),
        torch.randint(-3, 4, (layers, columns, width)).float(),
        torch.randint(0, kinds, (rows,)),
        torch.randint(0, kinds, (columns,)),
    )


def counts(matches: Matches) -> dict[str, list[int]]:
    return {name: getattr(matches, name).sum(-1).tolist() for name in ("alarms", "winners", "ties")}


@pytest.mark.parametrize("chunk", [1, 5, 24, 100, 10**9])
@pytest.mark.parametrize("kinds", [1, 2, 5, 40])
@pytest.mark.parametrize(("rows", "columns"), [(7, 1), (7, 23), (0, 5), (3, 0), (0, 0)])
def test_matches_are_those_of_plain_loops(kinds: int, rows: int, columns: int, chunk: int) -> None:
    summary, source, summary_ids, source_ids = inputs = example(
        rows=rows, columns=columns, kinds=kinds
    )
    matches = match(*inputs, most_products=chunk)
    assert matches.same.shape == (2, rows)
    dots = summary @ source.transpose(1, 2)
    for layer, row in enumerate(naive(*inputs)):
        for i, (same, other, winners) in enumerate(row):
            assert (matches.same[layer, i], matches.other[layer, i]) == (same, other)
            assert matches.winners[layer, i] == winners
            assert bool(matches.alarms[layer, i]) is (other > same)
            assert not matches.ties[layer, i] or math.isfinite(other - same)
            equal = source_ids == summary_ids[i]
            for best, at, kind in (
                (same, matches.same_at, equal),
                (other, matches.other_at, ~equal),
            ):
                if kind.any():  # the first of equals
                    assert int(at[layer, i]) == int(
                        torch.nonzero(kind & (dots[layer, i] == best))[0]
                    )


@pytest.mark.parametrize(
    ("same", "other", "tie"),
    [
        (1000.0, 1000.05, True),
        (1000.0, 1000.5, False),
        (-1000.0, -1000.05, True),
        (0.001, 0.0010005, False),
        (1.0, -1.0, False),
        (0.0, 0.0, True),
    ],
)
def test_ties_are_relative(same: float, other: float, tie: bool) -> None:
    source = torch.tensor([[[same], [other]]])
    matches = match(torch.ones(1, 1, 1), source, torch.tensor([1]), torch.tensor([1, 2]))
    assert matches.ties.item() == tie


@pytest.mark.parametrize("chunk", [2, 4_000_000])
@pytest.mark.parametrize(
    ("dtype", "gap"), [(torch.float32, 1e-4), (torch.bfloat16, 2**-6), (torch.float16, 2**-9)]
)
def test_ties_are_counted_by_the_precision(dtype: torch.dtype, gap: float, chunk: int) -> None:
    """Dot products at exact distances from 0.5; the greatest length is 1."""
    dots = [0.5, 0.5 + gap / 2, 0.5 - gap / 2, 0.5 + 4 * gap, 0.5 + 4.5 * gap, -1]
    source = torch.tensor(dots, dtype=dtype)[None, :, None]
    summary = torch.ones(1, 1, 1, dtype=dtype)
    matches = match(
        summary, source, torch.tensor([7]), torch.tensor([7, 8, 8, 8, 9, 9]), most_products=chunk
    )
    assert counts(matches) == {"alarms": [1], "winners": [3], "ties": [0]}
    assert matches.winner_ties.tolist() == [[2]]
    assert matches.best_ties.tolist() == [[True]]
    alone = match(summary, source[:, [0, 5]], torch.tensor([7]), torch.tensor([7, 9]))
    assert not alone.best_ties.any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_low_precision_embeddings_are_matched_in_float32(dtype: torch.dtype) -> None:
    torch.manual_seed(5)
    summary, source = torch.randn(1, 9, 64).to(dtype), torch.randn(1, 40, 64).to(dtype)
    ids = torch.randint(0, 4, (9,)), torch.randint(0, 4, (40,))
    matches, exact = match(summary, source, *ids), match(summary.float(), source.float(), *ids)
    for name in ("same", "same_at", "other", "other_at", "winners"):
        assert torch.equal(getattr(matches, name), getattr(exact, name)), name


def test_memory_does_not_grow_with_the_product_of_both_sides() -> None:
    rows, columns = 300, 100_000
    ids = torch.randint(0, 1000, (rows,)), torch.randint(0, 1000, (columns,))
    sizes = []

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            made = function(*args, **(kwargs or {}))
            sizes.append(made.nbytes if isinstance(made, torch.Tensor) else 0)
            return made

    with Watch():
        match(torch.randn(1, rows, 8), torch.randn(1, columns, 8), *ids, most_products=500_000)
    assert max(sizes) <= columns * 8 * 4  # the source itself; all dot products would be 120 MB
