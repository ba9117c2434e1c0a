"""The printed rows: complete, in order, and what the tables say of them elsewhere in the paper."""

from __future__ import annotations

from estime_metric.studies.shared.estime_paper import (  # fmt: skip
    QUALITIES,
    REFERENCE_BASED,
    REFERENCE_FREE,
    TABLE_1,
    TABLE_2,
    TABLE_3,
)


def test_the_tables_have_the_same_rows_in_the_same_order() -> None:
    assert list(TABLE_1) == list(TABLE_2) == [*REFERENCE_FREE, *REFERENCE_BASED]
    assert list(TABLE_3) == list(REFERENCE_FREE)
    assert (len(REFERENCE_FREE), len(REFERENCE_BASED)) == (9, 8)
    assert all(len(row) == len(QUALITIES) for row in TABLE_1.values())
    assert [TABLE_3[f"(-)ESTIME-{layer}"] for layer in (12, 21, 24)] == [(0.138, 0.159), (0.163, 0.188), (0.169, 0.195)]
    assert (TABLE_3["BLANC-AXXL"], TABLE_3["SUPERT"]) == ((0.036, 0.042), (0.107, 0.123))


def test_the_highest_of_each_column_are_those_that_the_paper_names() -> None:
    """Section 3.1: ESTIME-21 beats the others in consistency and fluency, and the reference-free in coherence."""
    names = ("(-)ESTIME-21", "BERTScore-R", "BERTScore-F1", "(-)ESTIME-21")
    for column, best in enumerate(names):
        for value in (0, 1):  # tau follows rho
            assert max((row[column][value], name) for name, row in TABLE_1.items())[1] == best
    assert max(REFERENCE_FREE, key=lambda name: TABLE_1[name][2].rho) == "(-)ESTIME-21"


def test_tau_goes_with_rho_and_is_that_of_16_systems_at_the_system_level() -> None:
    for rho, tau in [pair for row in TABLE_1.values() for pair in row] + list(TABLE_2.values()):
        assert (rho > 0) == (tau > 0)
        assert abs(tau) < abs(rho)
    for _, tau in TABLE_2.values():  # with 16 different means tau-c is a multiple of 2 / 240
        assert abs(tau * 120 - round(tau * 120)) < 0.061  # printed with three digits
