"""SummEdits (Laban et al. 2023): summaries that a language model edited, each judged by people as
consistent with its document or not.

The authors' files are read (github.com/salesforce/factualNLG, folder ``data/summedits``), one for
each domain.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.studies.benchmarks.shared.records import read_frame
from experiments.benchmarks.reading import check_labels, known_first

#: Domain, as in the names of the files -> what it is called in tables, in their order.
DOMAINS = {
    "podcast": "podcast",
    "billsum": "BillSum",
    "samsum": "SAMSum",
    "news": "news",
    "sales_call": "sales call",
    "sales_email": "sales email",
    "shakespeare": "Shakespeare",
    "scitldr": "SciTLDR",
    "qmsumm": "QMSum",
    "ectsum": "ECTSum",
}
#: Where the files may be in a given folder.
FOLDERS = (Path(), Path("data", "summedits"), Path("summedits"))
PREFIX, ENDING = "summedits_", ".json"


def read(folder: str | Path, limit: int | None = None) -> Summaries:
    """Reads the domains that there are.

    The ``document`` of a key is the domain, its ``system`` the id of the summary; further columns
    are the ``label``, 1 for a consistent summary, 0 for another, and a name for its ``text``: the
    edits of one text belong together.

    Args:
        folder: a copy of the authors' repository, or a folder with ``summedits_DOMAIN.json``.
        limit: only the first texts of each domain.

    Raises:
        OSError: there is no such file.
        ValueError: a record without a field, a summary twice, or a label that is neither 0 nor 1.
    """
    paths = _files(Path(folder))
    tables = [_read_domain(path, domain, limit) for domain, path in paths.items()]
    return Summaries(
        origin=f"{Path(folder).name or folder}, {len(paths)} domains",
        table=pd.concat(tables, ignore_index=True),
        key_names=("domain", "id"),
    )


def _files(folder: Path) -> dict[str, Path]:
    """Domain -> its file, the known domains first."""
    for place in FOLDERS:
        paths = sorted((folder / place).glob(f"{PREFIX}*{ENDING}"))
        if paths:
            named = {path.name.removeprefix(PREFIX).removesuffix(ENDING): path for path in paths}
            return {domain: named[domain] for domain in known_first(named, DOMAINS)}
    raise FileNotFoundError(
        f"Expected {str(folder)!r} to have files {PREFIX}DOMAIN{ENDING}, or the folder data/summedits with "
        "them, but it has neither."
    )


def _read_domain(path: Path, domain: str, limit: int | None) -> pd.DataFrame:
    table = read_frame(path, ("id", "doc", "summary", "label"), id="system", doc="source")
    check_labels(table, path.name)
    numbers = pd.Series(pd.factorize(table["source"])[0])
    table = table.assign(document=domain, text=f"{domain}/" + numbers.astype(str))
    return table if limit is None else table[numbers < limit]
