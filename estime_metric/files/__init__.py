"""Tables of pairs on disk: what is read, what is written."""

from __future__ import annotations

from estime_metric.files.formats import READABLE, STANDARD, WRITABLE, is_standard
from estime_metric.files.pairs import Pairs, iterate_pairs, pair_problem, read_pairs
from estime_metric.files.reading import Row, read_rows
from estime_metric.files.replacing import make_folder, named, replaced, write_text
from estime_metric.files.writing import check_writable, encode_rows, plain, score_columns, score_rows, write_rows

__all__ = [
    "READABLE",
    "STANDARD",
    "WRITABLE",
    "Pairs",
    "Row",
    "check_writable",
    "encode_rows",
    "is_standard",
    "iterate_pairs",
    "make_folder",
    "named",
    "pair_problem",
    "plain",
    "read_pairs",
    "read_rows",
    "replaced",
    "score_columns",
    "score_rows",
    "write_rows",
    "write_text",
]
