"""The rows of a table, as its CSV file holds them."""

from __future__ import annotations

import csv
import io

from estime_metric.tables import Table, to_csv


def rows(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(table))))
