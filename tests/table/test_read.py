"""Tables of scores on disk -> data frames."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

from estime_metric.compare import read_scores
from estime_metric.table.formats import WRITABLE
from estime_metric.table.table import number_of, write
from tests.command import write_jsonl


@pytest.mark.parametrize("ending", WRITABLE)
def test_scores_are_read_from_every_format(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scores{ending}"
    row = {"line": 1, "id": "007", "inconsistency": 0.25, "my": "text", "source_id": "0" * 16}
    write(path, [row, {**row, "line": 2, "inconsistency": None}], {"signature": "ESTIME|made"})
    table = read_scores(path)
    assert table.index.tolist() == [1, 2]
    first, second = table.to_dict("records")
    assert {**first, "line": 1} == {**row, "signature": "ESTIME|made"}
    assert second["inconsistency"] != second["inconsistency"]  # NaN


def test_output_columns_with_a_prefix_have_their_plain_names(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    row = {"my_line": 1, "line": 30, "my_tokens": 5, "tokens": "many", "my_own": 2}
    write(path, [row], {"signature": "ESTIME|made", "options": {"prefix": "my_"}})
    plain = read_scores(path).iloc[0].to_dict()
    assert plain == {"line": 1, "tokens": 5, "my_own": 2, "signature": "ESTIME|made"}
    own = read_scores(path, own_columns=["line"]).iloc[0].to_dict()
    assert own == {"my_line": 1, "line": 30, "tokens": 5, "my_own": 2, "signature": "ESTIME|made"}


@pytest.mark.parametrize("options", [None, ["x"], "x", {"prefix": None}])
def test_a_record_of_another_program_has_no_prefix(tmp_path: Path, options: object) -> None:
    path = tmp_path / "scores.jsonl"
    write(path, [{"alarms": 1, "x_y": 2}], {"options": options})
    assert read_scores(path).iloc[0].to_dict() == {"alarms": 1, "x_y": 2}


@pytest.mark.parametrize("prefix", ["", "estime_"])
def test_a_column_of_the_user_is_never_a_measure(tmp_path: Path, prefix: str) -> None:
    """People's ratings of coherence are not the measure of that name."""
    path = tmp_path / "scores.jsonl"
    row = {"id": "a", "coherence": 4.3, f"{prefix}soft": 0.5}
    meta = {"signature": "ESTIME|made", "options": {"prefix": prefix}, "measures": {"soft": {}}}
    write(path, [row], meta)
    read = read_scores(path).iloc[0].to_dict()
    assert read == {"id": "a", "soft": 0.5, "signature": "ESTIME|made"}
    assert read_scores(path, own_columns=["coherence"])["coherence"].tolist() == [4.3]


def test_a_line_that_cannot_be_read_is_an_error_unless_it_may_be_skipped(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "scores.jsonl", [{"alarms": 1}, "no object", {"alarms": 2}])
    with pytest.raises(ValueError, match=r"scores\.jsonl to be a table, but line 2 "):
        read_scores(path)
    skipped: list[str] = []
    assert read_scores(path, skipped=skipped)["alarms"].tolist() == [1, 2]
    assert [problem[:20] for problem in skipped] == ["scores.jsonl line 2:"]


@pytest.mark.parametrize("other", [0.5, None])
def test_large_integers_stay_exact_next_to_a_fraction_or_a_gap(
    tmp_path: Path, other: float | None
) -> None:
    """As floats, two of them would be the same."""
    ids = [1234567890123456768, 1234567890123456789, other]
    path = write_jsonl(tmp_path / "scores.jsonl", [{"id": cell} for cell in ids])
    assert read_scores(path)["id"].tolist() == ids


def test_a_number_with_underscores_is_no_number_and_a_missing_one_is_nan() -> None:
    cells = ["1_0", " 0.5", "1e307", pandas.NA, None, "NA", "inf"]
    shown = [number_of(cell) for cell in cells]
    assert repr(shown) == "[None, 0.5, 1e+307, nan, nan, nan, None]"
