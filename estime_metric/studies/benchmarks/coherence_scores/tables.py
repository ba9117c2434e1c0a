"""Tables 1, 3, 4, 5 and 6 of Steen & Markert 2022, computed and as published."""

from __future__ import annotations

import pandas as pd

from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.published import STATISTICS
from estime_metric.studies.benchmarks.coherence_scores.statistics import (
    AGREEMENT,
    ANNOTATORS,
    COMPONENTS,
    CONFOUNDERS,
    ENTITIES,
    SHUFFLE,
)
from estime_metric.studies.benchmarks.shared.blocks import OWN
from estime_metric.studies.benchmarks.shared.running import Frames
from estime_metric.studies.benchmarks.shared.scored import Scored
from estime_metric.studies.printed import Table, intervals

_SYSTEMS = (
    "Computed from the published scores on the 16 systems whose judgements are available; "
    "paper: as printed, on 17 systems. They cannot be equal digit for digit."
)
#: Measures whose code or models this package does not have.
_NOT_RUN = (
    "All measures of this table except those of files are scores that the authors published; EEG, NEG, UNF, GRA, GRN "
    "(GRUEN) and SQE (SumQE) cannot be computed by this package."
)


def make_tables(scored: Scored[CoherenceScores], frames: Frames) -> list[Table]:
    """``table3``, ``table4``, ``table3-intervals``, ``table5``, ``table6``, ``annotators``, and ``table1``
    if it was computed.
    """
    paper = "of Steen & Markert 2022"
    agreement = frames[AGREEMENT]
    computed = agreement[agreement["column"].notna()]
    ends = computed.assign(
        value=intervals(computed),
        paper=intervals(
            computed.rename(columns={"paper_low": "printed_low", "paper_high": "printed_high"}),
            "printed",
        ),
    )
    remarks = [*scored.gaps("coherence"), *scored.remarks]
    made = [
        Table(
            "table3",
            f"Table 3 {paper}: agreement of coherence measures with judged coherence, Kendall's τ-b.",
            {"": _with_printed(computed, "measure")},
            [_SYSTEMS, _NOT_RUN, *remarks],
            decimals=2,
        ),
        _table_4(frames[SHUFFLE], paper),
        Table(
            "table3-intervals",
            f"Table 3 {paper}: 95% intervals, documents and systems resampled.",
            {"": _with_printed(ends, "measure")},
            [_SYSTEMS],
        ),
    ]
    made += [_table_5(frames[COMPONENTS], paper), _table_6(frames[ENTITIES], paper)]
    made.append(_annotators(frames[ANNOTATORS]))
    if CONFOUNDERS in frames:
        own = agreement[agreement["section"] == OWN].rename(columns={"measure": "confounder"})
        note = "Capitalization: whether the system writes capitals; in the paper their number in each summary."
        made.append(
            Table(
                "table1",
                f"Table 1 {paper}: what knowing the system alone gets; (r): ties broken at random.",
                {"": _with_printed(pd.concat([frames[CONFOUNDERS], own]), "confounder")},
                [_SYSTEMS, note],
                decimals=2,
            )
        )
    return made


def _with_printed(frame: pd.DataFrame, first: str) -> pd.DataFrame:
    """A row for each measure; each statistic, and next to it what the paper prints."""
    wide = frame.pivot(index=first, columns="statistic", values=["value", "paper"])
    wide = wide.loc[frame[first].unique()]
    shown = {first: wide.index}
    for name in STATISTICS:
        shown |= {name: wide["value", name].array, f"{name} paper": wide["paper", name].array}
    return pd.DataFrame(shown)


def _table_4(frame: pd.DataFrame, paper: str) -> Table:
    """Table 4, and whether the printed digits are met."""
    printed = (frame[name].map("{:.3f}".format) for name in ("accuracy", "paper"))
    met = next(printed) == next(printed)
    shown = frame.assign(met=met.map({True: "yes", False: "no"}))
    return Table(
        "table4",
        f"Table 4 {paper}: shuffle accuracy on 1,000 reference summaries of CNN/DailyMail.",
        {"": shown[["measure", "accuracy", "paper", "met"]]},
        [
            "Computed from the published scores, a tie counts as one half; paper: as printed; 0.5 by chance.",
        ],
    )


def _table_5(frame: pd.DataFrame, paper: str) -> Table:
    """Table 5."""
    alone = frame["other"].mask(frame["component"] == frame["other"], "alone")
    shown = frame.assign(other=alone).rename(columns={"other": "with", "value": "τ_sys"})
    title = f"Table 5 {paper}: system-level agreement of GRUEN's components and of their sums."
    return Table("table5", title, {"": shown}, [_SYSTEMS], decimals=2, texts=["with"])


def _table_6(frame: pd.DataFrame, paper: str) -> Table:
    """Table 6."""
    note = (
        "Entities: content words; in the paper those of the Brown Coherence Toolkit. Texts: the references of 100 "
        'documents and the summaries of 16 systems; in the paper "CNN/DM Ref.", whose size it does not state, and '
        "17 systems."
    )
    title = (
        f"Table 6 {paper}: share of documents, and mean share of sentences, without entity overlap."
    )
    return Table(
        "table6", title, {"": frame.rename(columns=lambda name: name.replace("_", " "))}, [note]
    )


def _annotators(frame: pd.DataFrame) -> Table:
    """How well each expert agrees with the other two."""
    shown = frame.assign(
        expert="expert " + frame["expert"].astype(str),
        published=frame["published"].map({True: "HUM", False: ""}),
    )
    return Table(
        "annotators",
        "Agreement of each expert with the mean of the other two on coherence, Kendall's τ-b.",
        {"": shown},
        [
            "Steen & Markert 2022 take the expert with the worst correlation for HUM; published: whose judgements the "
            "published file contains. Experts are numbered from 0."
        ],
        texts=["published"],
    )
