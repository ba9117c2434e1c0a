"""Tables of pairs and of scores on disk: what is read, what is written."""

from __future__ import annotations

from estime_metric.files.formats import READABLE, has_text_cells, header_hint, read_rows
from estime_metric.files.layout import TABLES, Layout
from estime_metric.files.lines import Line, Row
from estime_metric.files.metadata import (
    meta_path,
    read_meta,
    write_meta,
)
from estime_metric.files.pairs import (
    ColumnError,
    Pairs,
    check_aligned,
    cut,
    other_columns,
    pair_problem,
    read_lines,
    read_pairs,
    text_problem,
)
from estime_metric.files.replacing import (
    lock_path,
    locked,
    make_folder,
    named,
    remove_unfinished,
    replaced,
    resolved,
    write_text,
)
from estime_metric.files.scores import (
    FILE,
    FLAG,
    LINE,
    SIGNATURE,
    SOURCE_ID,
    Number,
    measure_columns,
    measure_values,
    rows_with,
)
from estime_metric.files.streams import is_standard, write_standard_output
from estime_metric.files.values import plain
from estime_metric.files.writing import (
    WRITABLE,
    check_writable,
    encode_json_lines,
    replace_table,
    write_rows,
)

__all__ = [
    "FILE",
    "FLAG",
    "LINE",
    "READABLE",
    "SIGNATURE",
    "SOURCE_ID",
    "TABLES",
    "WRITABLE",
    "ColumnError",
    "Layout",
    "Line",
    "Number",
    "Pairs",
    "Row",
    "check_aligned",
    "check_writable",
    "cut",
    "encode_json_lines",
    "has_text_cells",
    "header_hint",
    "is_standard",
    "lock_path",
    "locked",
    "make_folder",
    "measure_columns",
    "measure_values",
    "meta_path",
    "named",
    "other_columns",
    "pair_problem",
    "plain",
    "read_lines",
    "read_meta",
    "read_pairs",
    "read_rows",
    "remove_unfinished",
    "replace_table",
    "replaced",
    "resolved",
    "rows_with",
    "text_problem",
    "write_meta",
    "write_rows",
    "write_standard_output",
    "write_text",
]
