"""The table of scores on disk, as JSON Lines, CSV or Parquet: its columns, its cells and its record.

A row is a pair: its ``line``, its ``file`` if there are several, the user's columns, the measures
(``alarms``, or ``alarms_layer12`` of several layers), ``flag`` if there is a threshold, ``source_id``.
The record says how the scores were computed: ``signature``, options, versions, totals. Parquet contains it,
and next to other files is ``NAME.meta.json``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from estime_metric._messages import shortened
from estime_metric.measures import reported_name
from estime_metric.table.formats import (
    FORMATS,
    Line,
    Row,
    encodable,
    encode_json_lines,
    format_of,
    parsed,
    to_json,
)
from estime_metric.table.output import (
    is_standard,
    resolved,
    write_standard_output,
)

if TYPE_CHECKING:
    from pandas import DataFrame, Series

#: Columns in addition to the measures.
FILE, LINE, FLAG, SOURCE_ID, SIGNATURE = "file", "line", "flag", "source_id", "signature"

#: Entry of the record: the `row_digests`, in order.
DIGESTS = "row_digests"

#: Cells of CSV that represent a missing number.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")

#: What the entries of a record are, as far as they are used: texts, objects, or lists of texts.
_KINDS: dict[str, type | tuple[type, ...]] = {
    SIGNATURE: str,
    DIGESTS: str,
    "options": dict,
    "config": dict,
    "measures": (list, dict),
    "inputs": (list, dict),
}

_TRUTHS = {"true": True, "false": False}
_WHOLE = 2**53  # from here on, a float cannot tell whole numbers apart
_DIGEST = 4  # bytes of the digest of a row

Number = int | float | None  # ``None`` if a measure is undefined
Record = Mapping[str, Any]


def frame_of(path: Path, lines: Iterable[Line], skipped: list[str] | None = None) -> DataFrame:
    r"""The rows of lines, with the numbers of the lines as the index. The sentences on lines with a
    problem go to ``skipped``; without it, the first of them is an error (ValueError). Values are as
    they are, except that a lone surrogate, which a data frame cannot hold, becomes ``\ud800``.
    """
    import pandas  # slow

    rows, numbers = [], []
    for line in lines:
        if not line.problem:
            rows.append(
                {
                    encodable(name): encodable(value) if isinstance(value, str) else value
                    for name, value in line.row.items()
                }
            )
            numbers.append(line.number)
        elif skipped is None:
            raise ValueError(
                f"Expected {path.name} to be a table, but line {line.number} {line.problem}."
            )
        else:
            skipped.append(f"{path.name} {line.sentence}")
    table = pandas.DataFrame(rows, index=pandas.Index(numbers, name=LINE))
    for name in table.select_dtypes(
        "float"
    ):  # pandas rounds large integers next to a float or a gap
        cells = [row.get(name) for row in rows]
        if any(isinstance(cell, int) and cell != float(cell) for cell in cells):
            table[name] = pandas.Series(cells, table.index, dtype=object)
    return table


def converted(cells: Series) -> Series:
    """A column of texts as numbers, or as true and false, if it is one; `MISSING` cells are NaN."""
    import pandas  # slow

    known = cells[~cells.isin(MISSING)].dropna()
    if known.empty:
        return pandas.Series(float("nan"), index=cells.index)
    values = known.str.lower().map(_TRUTHS)
    if values.isna().any():
        values = pandas.to_numeric(known, errors="coerce")
    return cells.replace("", None) if values.isna().any() else values.reindex(cells.index)


def number_of(cell: Any) -> float | None:
    """A cell of a table as a number: NaN if it is missing, ``None`` if it is not a finite number. True is
    1, and false is 0.

    Example:
        >>> number_of(3), number_of("0.25"), number_of("true"), number_of("NA"), number_of("1_0")
        (3.0, 0.25, 1.0, nan, None)
    """
    if isinstance(cell, str):
        if cell.strip() in MISSING:
            return math.nan
        if "_" in cell:  # Python reads 1_0 as 10
            return None
        cell = _TRUTHS.get(cell.lower(), cell)
    elif not isinstance(cell, (int, float)):
        import pandas  # slow

        if pandas.isna(cell) is True:
            return math.nan
    try:
        number = float(cell)
    except (OverflowError, TypeError, ValueError):
        return None
    return None if math.isinf(number) else number


def digest_columns(record: Record, prefix: str = "") -> list[str]:
    """The columns of the table that `row_digests` are of; the last is ``source_id``."""
    flag = [FLAG] if record.get("threshold") else []
    return [f"{prefix}{name}" for name in (LINE, *record.get("measures", ()), *flag, SOURCE_ID)]


def row_digests(table: DataFrame, record: Record, prefix: str = "") -> list[str]:
    """A digest of each row: of its ``source_id`` and, to six decimals, of its line, its measures and its
    flag, see `digest_columns`. A file that another program has saved has the same ones.
    """
    import numpy  # slow
    import pandas

    *columns, source_column = digest_columns(record, prefix)
    numbers = table[columns].apply(pandas.to_numeric, errors="coerce").to_numpy(dtype="<f8")
    numbers = numbers.round(6) + 0.0  # -0.0 becomes 0.0
    numbers[numpy.isnan(numbers)] = math.nan  # which has many forms
    return [
        blake2b(row.tobytes() + str(source).encode(), digest_size=_DIGEST).hexdigest()
        for row, source in zip(numbers, table[source_column], strict=True)
    ]


def record_of(path: str | Path) -> dict[str, Any]:
    """The record of a table of scores; empty if it has none, or one of another program.

    Raises ValueError if it is damaged or something else, OSError or ImportError if it cannot be read.
    """
    path = Path(path)
    table_format = format_of(path)
    text = table_format.record(path) if table_format else None
    if text is None:
        return {}
    content, problem = parsed(text.decode("utf-8", errors="surrogateescape"))
    if problem:
        raise ValueError(
            f"Expected the metadata of {path.name} to be a JSON object, but it {problem}."
        )
    wrong = [
        name
        for name, kinds in _KINDS.items()
        if name in content
        and not (
            isinstance(content[name], kinds)
            and all(isinstance(item, str) for item in content[name])
        )
    ]
    if wrong and SIGNATURE in content:
        raise ValueError(
            f"Expected the metadata of {path.name} to be a record of scores, but its {wrong[0]!r} is "
            f"{shortened(to_json(content[wrong[0]]))}. Score the texts again."
        )
    return {} if wrong else content


def write(path: Path, rows: Iterable[Row], record: Record | None = None) -> None:
    """Writes rows in one step as JSON Lines, CSV or Parquet, by the ending of ``path``; ``-`` is JSON Lines on
    standard output, which has no place for the record.

    Args:
        path: the file.
        rows: can be iterated over several times: CSV and Parquet look at the columns of all rows first.
        record: JSON data, which `record_of` reads.

    Raises OSError if it cannot be written; `check_writable` finds before what is wrong with a path.
    """
    if is_standard(path):
        write_standard_output(encode_json_lines(rows))
        return
    path = resolved(path)
    text = to_json(record, indent=1) if record else ""
    FORMATS[path.suffix.lower()].write(path, rows, text.encode("utf-8", "backslashreplace"))


def measure_columns(measures: Sequence[str], layers: Sequence[int]) -> list[str]:
    """Names of the columns of measures, layer by layer, see `reported_name`."""
    return [reported_name(name, layer, layers) for layer in layers for name in measures]


def measure_values(columns: Mapping[str, Sequence[float]]) -> dict[str, list[Number]]:
    """The columns of a result (`EstimeResult.columns`) in the format of files."""
    return {name: [plain(value) for value in values] for name, values in columns.items()}


def plain(number: float) -> Number:
    """A measure as it is stored in files: a count as an integer, NaN as ``None``, anything else
    rounded to six digits.

    Example:
        >>> plain(2.0), plain(0.1234567), plain(1e20), plain(math.nan)
        (2, 0.123457, 1e+20, None)
    """
    if math.isnan(number):
        return None
    return int(number) if abs(number) < _WHOLE and number == int(number) else round(number, 6)
