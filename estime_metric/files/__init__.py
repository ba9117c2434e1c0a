"""Tables of pairs on disk: what is read, what is written."""

from __future__ import annotations

from estime_metric.files.pairs import Pairs, iterate_pairs, pair_problem, read_pairs
from estime_metric.files.reading import (
    WRITABLE,
    Row,
    is_standard,
    meta_path,
    read_meta,
    read_rows,
    read_scored,
    read_signature,
)
from estime_metric.files.replacing import locked, make_folder, named, replaced, write_text
from estime_metric.files.writing import (
    check_names,
    check_writable,
    encode_rows,
    measure_columns,
    plain,
    score_columns,
    score_rows,
    write_meta,
    write_parquet,
    write_rows,
)

__all__ = [
    "WRITABLE",
    "Pairs",
    "Row",
    "check_names",
    "check_writable",
    "encode_rows",
    "is_standard",
    "iterate_pairs",
    "locked",
    "make_folder",
    "measure_columns",
    "meta_path",
    "named",
    "pair_problem",
    "plain",
    "read_meta",
    "read_pairs",
    "read_rows",
    "read_scored",
    "read_signature",
    "replaced",
    "score_columns",
    "score_rows",
    "write_meta",
    "write_parquet",
    "write_rows",
    "write_text",
]
