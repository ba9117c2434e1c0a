"""How often does the gate of ``estime compare --fail-if-worse`` stop an equal system, and how often a worse one?

Two systems are made of summaries that people judged. Each of their examples is a pair of summaries of one
source of which people prefer one; pairs are drawn with replacement, and each counts as a new source. In a
part of the examples the new system has the worse summary; in all others chance decides which system has
which. Without such a part, the systems are equal.

And how many pairs of real systems does each kind of failed rows stop? None of them is a failure. And how many
summaries does it take to see that one real system is a little worse than another? How often does copying stop one
that people prefer?
"""

from collections.abc import Iterator
from itertools import combinations, permutations, product
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

from estime_metric.cli import options
from estime_metric.compare.differences import compare_scores
from estime_metric.compare.failures import KINDS
from estime_metric.compare.gate import Verdict, judge, rows_of
from estime_metric.compare.request import Gate
from experiments.benchmarks import aggrefact
from experiments.benchmarks.common import PUBLISHED, RUN, Run, show
from experiments.benchmarks.systems import read

SIZES = (100, 400, 1600)
#: Parts of the examples in which the new system has the worse summary.
PARTS = (0.0, 0.2)
DIFFERENCES = (0.01, 0.03)
WHATEVER = 1e9  # a tolerance with which no system is worse
#: What the gate reads of scores, by the names of the benchmarks. Words stand for tokens: they show how much
#: shorter a system is.
COLUMNS = {
    "(-)inconsistency": "inconsistency",
    "copied_density": "copied_density",
    "(-)length": "tokens",
}


def verdict(pairs: pd.DataFrame, scores: pd.DataFrame, part: float, size: int, seed: int) -> str:
    """What the gate says of two systems with ``size`` examples.

    Args:
        pairs: the rows in ``scores`` of the better summary and of the worse one.
        scores: a scored file of all summaries.
        part: the part of the examples in which the new system has the worse summary.
    """
    rows = pairs.sample(size, replace=True, random_state=seed).to_numpy(copy=True)
    others = rows[round(part * size) :]
    np.random.default_rng(seed).permuted(others, axis=1, out=others)
    sources = list(map(str, range(size)))
    old, new = (scores.loc[own].assign(source_id=sources) for own in rows.T)
    return judge(compare_scores({"old": old, "new": new}, measures="inconsistency"))[0].name.lower()


def stops(summaries: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Whether a kind stops the second of two real systems: a row for each ordered pair of the systems of a
    dataset and each of `KINDS`, or, of a kind that reads no texts, for each column of judgements and of
    published scores. All of these are columns of others to the gate.
    """
    columns = ["judgement", *(name for name in summaries if name.startswith(PUBLISHED))]
    columns = [name for name in columns if summaries[name].notna().all()]
    systems = dict(list(summaries.groupby("system")))
    examples = compare_scores(systems, measures=columns, higher=columns, id_column="document")
    for names, column in product(permutations(systems, 2), columns):
        tables = rows_of(examples, names, column, Gate())
        for kind in KINDS:
            if column == columns[0] or not kind.reads:
                name = kind.name.format(measure="a column")
                yield {"kind": name, "stopped": kind.failed_rows(*tables) is not None}


def copying(summaries: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Whether the gate stops the second of two real systems because it copies more: a row for each ordered
    pair of the systems of a dataset of which people significantly prefer one.

    Args:
        summaries: with `COLUMNS`, ``signature`` and ``source_id``.
    """
    systems = dict(list(summaries.groupby("system")))
    for base, new in permutations(systems, 2):
        pair = {name: systems[name] for name in (base, new)}
        comparison = compare_scores(
            pair, measures="judgement", higher="judgement", id_column="document"
        )
        preferred = comparison.pairs["better_score"].iloc[0]
        if preferred is not None:
            says, _ = judge(comparison, tolerance=WHATEVER)
            yield {
                "new is": "better" if preferred == new else "worse",
                "stopped": says is Verdict.COPIES,
            }


def read_cliff(folder: Path) -> pd.DataFrame:
    """The summaries of CLIFF as `read` has those of other sets; none without its folder."""
    if not (folder / "cliff").is_dir():
        return pd.DataFrame(columns=["data"])
    table = aggrefact.read(folder).query("dataset == 'CLIFF'")
    return table.assign(data="CLIFF, " + table["origin"], judgement=table["label"])


def needed(table: pd.DataFrame, scores: pd.Series) -> pd.DataFrame:
    """How many summaries show a mean difference with a power of .8 (two-sided p < .05, normal distribution): a
    row for each dataset, and a column for each of `DIFFERENCES`. The spread of the difference of one document
    is the median over every two systems.
    """
    spreads = {}
    for data, own in table.assign(score=scores).groupby("data"):
        by_system = own.pivot(index="document", columns="system", values="score")
        spreads[data] = np.median(
            [
                by_system[[*pair]].diff(axis=1).iloc[:, 1].std()
                for pair in combinations(by_system, 2)
            ]
        )
    deviations = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    spread = pd.Series(spreads, name="data")
    return pd.DataFrame(
        {
            f"{size:g}": np.ceil((deviations * spread / size) ** 2).astype(int)
            for size in DIFFERENCES
        }
    )


def gate(folder: Path, /, *, draws: options.PositiveCount = 50, run: Run = RUN) -> None:
    """How often does the gate of 'estime compare' stop an equal system, and how often a worse one?

    Prints and writes to gate.csv the share of draws with each verdict, to gate-kinds.csv how many
    ordered pairs of the real systems each kind of failed rows stops, to gate-copying.csv how many are
    stopped because the new system copies more, and to gate-needed.csv how many summaries show a difference.

    Args:
        folder: As for systems; the kinds also read its folder cliff, as aggrefact does.
        draws: Pairs of systems per dataset, part of worse summaries and number of summaries.
    """
    table = read(folder)
    scores = run.score(table)[list(COLUMNS)].abs().rename(columns=COLUMNS)
    scores["signature"] = "ESTIME|"
    scored = (
        table.join(scores).assign(source_id=table["document"]).drop(columns=["source", "summary"])
    )
    judged = table[["data", "document", "judgement"]].reset_index()
    pairs = judged.merge(judged, on=["data", "document"]).query("judgement_x > judgement_y")
    by_data = pairs.groupby("data")[["index_x", "index_y"]]
    rows = [
        (data, part, size, verdict(own, scores, part, size, seed))
        for (data, own), part, size, seed in product(by_data, PARTS, SIZES, range(draws))
    ]
    keys = ["data", "part", "size"]
    verdicts = pd.DataFrame(rows, columns=[*keys, "verdict"]).groupby(keys)["verdict"]
    shares = verdicts.value_counts(normalize=True).unstack(fill_value=0.0)
    show("Share of draws", shares)
    real = pd.concat([table[table["data"] != "RAGTruth"], read_cliff(folder)])
    by_kind = pd.DataFrame(row for _, own in real.groupby("data") for row in stops(own))
    kinds = by_kind.groupby("kind", sort=False)["stopped"].agg(["sum", "count", "mean"])
    kinds.columns = ["stopped", "pairs", "share"]
    show("Pairs of real systems that a kind of failed rows stops", kinds)
    rows_of_pairs = pd.DataFrame(row for _, own in scored.groupby("data") for row in copying(own))
    stopped = rows_of_pairs.groupby("new is")["stopped"].agg(["sum", "count"])
    show("Pairs of real systems that are stopped because the new one copies more", stopped)
    summaries = needed(table, scores["inconsistency"])
    show("Summaries that show a difference of inconsistency with a power of .8", summaries)
    tables = {
        "gate": shares,
        "gate-kinds": kinds,
        "gate-copying": stopped,
        "gate-needed": summaries,
    }
    run.save(**{name: rows.reset_index() for name, rows in tables.items()})
