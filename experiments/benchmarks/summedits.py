"""SummEdits (Laban et al. 2023): summaries that a language model edited, each judged by people as
consistent with its document or not.
"""

import io
from pathlib import Path

import pandas as pd

from estime_metric.cli import options
from experiments.benchmarks.common import RUN, Run, records, show
from experiments.benchmarks.detection import MEAN, cross_validated, detect, with_ends

#: Balanced accuracies as published, in percent, none computed by this package: the README of
#: github.com/salesforce/factualNLG. For models that give a number, it does not say how the threshold
#: was chosen. ``overall`` is the mean of all ten domains.
_PUBLISHED = """
model         podcast billsum samsum news sales_call sales_email shakespeare scitldr qmsumm ectsum overall
Llama2-7b        50.0    50.0   50.0 50.6       50.9        50.0        50.0    50.0   50.7   51.4    50.4
Dav001           53.3    50.2   51.0 54.4       55.5        52.5        50.0    51.0   50.1   50.9    51.9
DAE              54.4    55.1   58.7 60.9       50.4        53.6        53.6    54.7   52.0   58.3    55.2
Cohere-cmd-xl    51.1    52.7   51.3 52.6       60.2        59.4        50.0    60.5   54.5   60.5    55.3
Vicuna-13b       52.8    52.5   51.3 63.5       57.9        51.8        55.4    59.7   54.0   62.4    56.1
SummaCConv       58.1    55.2   53.1 61.9       59.0        53.7        59.3    59.7   53.5   57.9    57.1
Mistral-7b       50.0    55.5   56.7 59.8       63.4        59.7        53.5    59.6   55.9   63.7    57.8
Llama2-13b       51.3    54.6   57.2 59.3       63.1        58.1        58.6    63.4   56.5   61.4    58.4
Claudev13        60.4    51.9   64.5 63.4       61.3        57.0        58.1    57.8   56.9   68.1    59.9
Dav002           56.4    53.9   57.1 61.9       65.1        59.1        56.6    64.6   60.6   66.2    60.1
Bard             50.0    58.1   61.3 71.6       73.3        70.6        58.7    66.0   53.9   72.7    63.6
QAFactEval       63.7    54.2   66.2 74.4       68.4        63.6        61.6    67.5   62.4   72.6    65.5
PaLM-bison       66.0    62.0   69.0 68.4       74.4        68.1        61.6    78.1   70.4   72.4    69.0
Dav003           65.7    59.9   67.6 71.0       78.8        69.2        69.7    74.4   72.2   77.8    70.6
CGPT             68.4    63.6   69.1 74.4       79.4        65.5        68.0    75.6   69.2   78.6    71.2
Claudev2         68.7    61.7   75.4 75.5       81.0        67.4        74.0    78.1   74.8   79.2    73.6
Claudev21        72.6    66.0   75.7 77.2       82.0        68.5        73.2    78.6   72.7   77.1    74.4
Gemini-pro       73.7    60.2   75.7 77.6       86.9        74.2        71.9    77.6   74.0   83.1    75.5
GPT4             82.7    71.1   83.1 83.3       87.9        79.5        84.0    82.4   79.6   87.0    82.1
people           90.8    87.5   89.4 90.0       91.8        87.4        96.9    89.3   90.7   95.4    90.9
"""
PUBLISHED = pd.read_csv(io.StringIO(_PUBLISHED), sep=r"\s+", index_col="model") / 100
DOMAINS = list(PUBLISHED.columns.drop("overall"))


def read(folder: Path, limit: int | None = None) -> pd.DataFrame:
    """The summaries of the domains that there are. The ``document`` is the domain and the ``system`` the
    id of the summary; further columns are the ``label``, 1 for a consistent summary, otherwise 0, and a
    name for its ``text``, because the edits of one text belong together.

    Args:
        folder: a copy of the authors' repository, or a folder with ``summedits_DOMAIN.json``.
        limit: only the first texts of each domain.
    """
    places = [folder, folder / "data" / "summedits", folder / "summedits"]
    paths = [path for place in places for path in sorted(place.glob("summedits_*.json"))]
    if not paths:
        raise FileNotFoundError(f"Expected {str(folder)!r} to have files summedits_DOMAIN.json.")
    by_domain = {path.stem.removeprefix("summedits_"): path for path in reversed(paths)}
    known = [domain for domain in DOMAINS if domain in by_domain]
    tables = []
    for domain in [*known, *sorted(by_domain.keys() - set(known))]:
        table = records(by_domain[domain])[["id", "doc", "summary", "label"]]
        numbers = pd.Series(pd.factorize(table["doc"])[0])
        named = table.rename(columns={"id": "system", "doc": "source"}).astype({"system": str})
        named = named.assign(document=domain, text=f"{domain}/" + numbers.astype(str))
        tables.append(named if limit is None else named[numbers < limit])
    return pd.concat(tables, ignore_index=True)


def analyze(table: pd.DataFrame, scores: pd.DataFrame, run: Run) -> pd.DataFrame:
    """`detect` by domain, with thresholds from the other texts of the domain, and below it the published
    accuracies, whose mean is over the domains in the data.
    """
    parts = {str(name): rows.index for name, rows in table.groupby("document", sort=False)}
    computed = detect(
        table, scores, parts, lambda rows: cross_validated(rows, table["text"]), "text", run
    )
    published = PUBLISHED[[name for name in parts if name in PUBLISHED]]
    published = published.assign(
        **{MEAN: published.mean(axis=1), "ten domains": PUBLISHED["overall"]}
    )
    rows = published.rename_axis("measure").reset_index().melt("measure", var_name="part")
    return pd.concat([computed, rows.rename(columns={"value": "accuracy"})], ignore_index=True)


def summedits(
    folder: Path, /, *, limit: options.PositiveCount | None = None, run: Run = RUN
) -> None:
    """Detect inconsistent edits of summaries by a language model: SummEdits, Laban et al. 2023.

    Prints areas under the ROC curve and balanced accuracies by domain, with a threshold from the other
    documents of the domain, next to 19 published models and people. Writes summedits.csv. Files of
    --scores name the columns domain and id.

    Args:
        folder: A copy of the authors' repository, salesforce/factualNLG, or a folder with files
            summedits_DOMAIN.json.
        limit: Use only the first documents of each domain.
    """
    table = read(folder, limit)
    frame = analyze(table, run.score(table), run)
    about = f"{len(table)} summaries of {table['text'].nunique()} documents"
    of_run = frame[frame["part"] != "ten domains"]
    show(f"SummEdits: area under the ROC curve, {about}", with_ends(of_run, "area"))
    show("SummEdits: balanced accuracy", with_ends(of_run, "accuracy"))
    run.save(summedits=frame)
