"""Five systems from shuffled files, compared with a computation that shares nothing with the package."""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from estime_metric.comparison import compare_rows, plot_copying, to_table
from tests.command import json_rows, run_command, write_jsonl

NAMES = ["copier", "lead", "abstractor", "bart", "t5"]
EXAMPLES, N, CONFIDENCE, SEED = 60, 2000, 0.9, 3


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    """Alarms of five systems for the same sources: easy and hard ones, ties, two systems that are
    alike.
    """
    rng = np.random.default_rng(0)
    hard = rng.gamma(2, 1, EXAMPLES)
    return np.stack([rng.poisson(hard * factor) for factor in (0.3, 0.95, 2.2, 1.0, 1.3)])


def files_of(folder: Path, scores: np.ndarray, shuffled: bool, key: str = "id") -> list[Path]:
    """A file for each system, in a separate order if shuffled; ``line`` numbers its rows and
    identifies none.
    """
    paths = []
    for name, values in zip(NAMES, scores, strict=True):
        rows = [
            {
                key: f"d{index}",
                "alarms": int(value),
                "tokens": 40 + len(name),
                "coverage": 0.9,
                "signature": "s",
            }
            | {"copied": 0.1 * len(name), "copied_density": 2.0}
            for index, value in enumerate(values)
        ]
        if shuffled:
            random.Random(name).shuffle(rows)
        numbered = [{"line": line} | row for line, row in enumerate(rows, start=1)]
        paths.append(write_jsonl(folder / f"{name}{'-shuffled' * shuffled}.jsonl", numbered))
    return paths


def by_hand(scores: np.ndarray, pairs: list[tuple[int, int]]) -> tuple[dict, list[set[int]]]:
    """P-values of sign flips (Noreen 1989), corrected (Holm 1979), and the largest sets without a
    difference.
    """
    rng = np.random.default_rng(99)
    p_values = {}
    for i, j in pairs:
        d = (scores[i] - scores[j]).astype(float)
        flipped = np.abs((rng.choice([-1, 1], size=(20_000, len(d))) * d).mean(axis=1))
        p_values[i, j] = (1 + int((flipped >= abs(d.mean()) - 1e-12).sum())) / 20_001
    corrected, least = {}, 0.0
    for rank, pair in enumerate(sorted(p_values, key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(pairs) - rank) * p_values[pair]))
        corrected[pair] = least
    corrected = {pair: corrected[pair] for pair in pairs}
    alike = [
        set(some)
        for size in range(1, len(scores) + 1)
        for some in itertools.combinations(range(len(scores)), size)
        if all(corrected.get(pair, 1.0) >= 0.05 for pair in itertools.combinations(some, 2))
    ]
    return corrected, [one for one in alike if not any(one < other for other in alike)]


@pytest.mark.parametrize(
    ("key", "given"), [("id", []), ("source", []), ("url", ["--id-column", "url"])]
)
def test_every_two_of_five_systems(
    scores: np.ndarray, tmp_path: Path, key: str, given: list[str]
) -> None:
    options = ["--measures", "alarms", "-n", N, "--confidence", CONFIDENCE, "--seed", SEED, *given]
    found = []
    for shuffled in (False, True):
        out = tmp_path / "out.json"
        run_command(
            "compare",
            *files_of(tmp_path, scores, shuffled, key),
            *options,
            "-o",
            out,
            "--overwrite",
        )
        found.append(json.loads(out.read_text().replace("-shuffled", "")))
    assert found[0] == found[1]
    assert found[0]["matched_by"] == key

    pairs = list(itertools.combinations(range(5), 2))
    corrected, clusters = by_hand(scores, pairs)
    assert [(row["system_a"], row["system_b"]) for row in found[0]["pairs"]] == [
        (NAMES[i], NAMES[j]) for i, j in pairs
    ]
    for row, (i, j) in zip(found[0]["pairs"], pairs, strict=True):
        assert row["p_holm"] == pytest.approx(corrected[i, j], abs=0.03)
        assert (row["better"] is None) == (corrected[i, j] >= 0.05)
        assert row["difference"] == pytest.approx(scores[i].mean() - scores[j].mean())
    expected = {frozenset(NAMES[index] for index in one) for one in clusters}
    assert set(map(frozenset, found[0]["clusters"]["alarms"])) == expected
    assert 1 < len(clusters) < 5  # some are alike, some are not

    ranking = found[0]["rankings"]["alarms"]
    assert [one["mean"] for one in ranking] == pytest.approx(sorted(scores.mean(axis=1)))
    for one in ranking:
        own = NAMES.index(one["system"])
        others = [other for other in range(5) if other != own]
        assert one["won"] == sum(int((scores[own] < scores[other]).sum()) for other in others)
        assert one["tied"] == sum(int((scores[own] == scores[other]).sum()) for other in others)
        assert one["won"] + one["tied"] + one["lost"] == 4 * EXAMPLES
        ordered = scores[own][np.argsort([f"d{index}" for index in range(EXAMPLES)])]
        drawn = ordered[np.random.default_rng(SEED).integers(EXAMPLES, size=(N, EXAMPLES))].mean(
            axis=1
        )
        assert [one["low"], one["high"]] == pytest.approx(np.quantile(drawn, [0.05, 0.95]))


def test_a_baseline_with_each_other_system(scores: np.ndarray, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    paths = files_of(tmp_path, scores, shuffled=True)
    shown = run_command(
        "compare", *paths, "--baseline", "bart-shuffled", "-n", N, "-o", out, columns=160
    ).stdout
    rows = json_rows(out)
    corrected, _ = by_hand(scores, [(3, other) for other in (0, 1, 2, 4)])
    assert [row["system_a"] for row in rows] == ["bart-shuffled"] * 4
    assert [row["p_holm"] for row in rows] == pytest.approx(list(corrected.values()), abs=0.03)
    cells = [line.split() for line in shown.splitlines()]
    lines = {
        line[1].removesuffix("-shuffled"): line for line in cells if line and line[0] in "12345"
    }
    assert list(lines) == [NAMES[index] for index in np.argsort(scores.mean(axis=1))]
    for name, said in {
        "bart": "baseline",
        "copier": "better",
        "abstractor": "worse",
        "lead": "no",
    }.items():
        assert said in lines[name]


def test_one_file_of_all_systems_gives_the_same_table(scores: np.ndarray, tmp_path: Path) -> None:
    paths = files_of(tmp_path, scores, shuffled=False)
    rows = [row | {"by": path.stem} for path in paths for row in json_rows(path)]
    together = write_jsonl(
        tmp_path / "all.jsonl", [row | {"line": number} for number, row in enumerate(rows)]
    )
    for ending in (".md", ".tex", ".csv"):
        out = [tmp_path / f"{name}{ending}" for name in ("several", "one")]
        run_command("compare", *paths, "-n", 100, "-o", out[0])
        run_command("compare", together, "--system-column", "by", "-n", 100, "-o", out[1])
        assert out[0].read_text() == out[1].read_text()
    markdown = (tmp_path / "several.md").read_text()
    assert all(
        f"| {rank} | {name}" in markdown for rank, name in [(1, "copier"), (5, "abstractor")]
    )
    assert r"\begin{tabular}" in (tmp_path / "one.tex").read_text()
    refused = run_command("compare", together, status=2).stderr
    assert re.search(
        r"a column 'system' in all.jsonl, but its columns are .*, by. Name .* --system-column",
        refused,
    )


def test_the_plot_shows_every_system(scores: np.ndarray, tmp_path: Path) -> None:
    paths = files_of(tmp_path, scores, shuffled=False)
    run_command("compare", *paths, "-n", 100, "--plot", tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()
    rows = [json_rows(path) for path in paths]
    axes = plot_copying(compare_rows(*rows, names=NAMES, n=100), "alarms").axes[0]
    assert {text.get_text() for text in axes.texts} == set(NAMES)
    points = {(round(x, 6), round(y, 6)) for x, y in axes.collections[-1].get_offsets().tolist()}
    assert points == {
        (round(0.1 * len(n), 6), round(float(s.mean()), 6))
        for n, s in zip(NAMES, scores, strict=True)
    }
    bare = [
        [{name: value for name, value in row.items() if name != "copied"} for row in side]
        for side in rows
    ]
    with pytest.raises(ValueError, match="Expected a column 'copied' for the plot, but A has none"):
        plot_copying(compare_rows(*bare[:2], n=100), "alarms")


def test_a_system_of_which_little_was_checked_ranks_last_and_shares_no_cluster() -> None:
    def rows(alarms: int, coverage: float) -> list[dict]:
        return [
            {"id": i, "alarms": alarms, "coverage": coverage, "signature": "s"} for i in range(12)
        ]

    found = compare_rows(
        rows(3, 0.9), rows(0, 0.2), rows(1, 0.8), names=["worse", "gibberish", "good"], n=100
    )
    assert [one.system.name for one in found.ranking("alarms")] == ["good", "worse", "gibberish"]
    assert found.clusters("alarms") == [("good",), ("worse",)]
    assert (
        "No winner is declared: only 20% of the tokens of gibberish were checked."
        in to_table(found).notes
    )


def test_systems_need_names_of_their_own() -> None:
    side = [{"id": 1, "alarms": 1, "signature": "s"}]
    for number, options, message in [
        (3, {"names": ["x", "x", "y"]}, "each name of a system once, but got 'x' twice"),
        (3, {"names": ["x"]}, "`names` to name 3 systems, but got 1"),
        (3, {"baseline": "Z"}, "`baseline` to be one of A, B, C, but got 'Z'"),
        (1, {}, "two systems or more, but got 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            compare_rows(*[side] * number, **options)
    with pytest.raises(ValueError, match="two systems that were compared, but got 'A' and None"):
        compare_rows(side, side, side).verdict("alarms", "A")
