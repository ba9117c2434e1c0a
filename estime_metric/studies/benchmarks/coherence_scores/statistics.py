"""What is computed of the published scores and of the texts: the statistics of Tables 1, 3, 4, 5 and
6, and how the annotators agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.published import (
    LABELS,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    TABLE_6,
)
from estime_metric.studies.benchmarks.shared.blocks import OWN
from estime_metric.studies.benchmarks.shared.running import Frames
from estime_metric.studies.benchmarks.shared.scored import Scored, with_paper
from estime_metric.studies.coherence_measures.entity_graph import unlinked_sentences
from estime_metric.studies.meta import bootstrap, correlate, evaluate_all
from estime_metric.studies.meta.confounders import break_ties, from_property, system_upper_bound
from estime_metric.studies.meta.correlations import weighted
from estime_metric.studies.meta.grid import Grid, by_system
from estime_metric.studies.meta.shuffle import shuffle_accuracy
from estime_metric.table.arrays import Floats

#: The paper's names of its statistics (section 4), see `published.STATISTICS`, and the level and
#: method of `estime_metric.studies.meta.correlate`.
STATISTICS = {
    "τ_intra": ("intra_system", "kendall_b"),
    "τ_pair": ("pairwise", "kendall_b"),
    "τ_sum": ("summary", "kendall_b"),
    "τ_sys": ("system", "kendall_b"),
    "Acc_pair": ("pairwise", "accuracy"),
}
AGREEMENT = "agreement.csv"
SHUFFLE = "shuffle.csv"
CONFOUNDERS = "confounders.csv"
COMPONENTS = "components.csv"
ENTITIES = "entities.csv"
ANNOTATORS = "annotators.csv"
WITHIN_SYSTEMS = "within-systems.csv"
#: The paper's best measures (Figures 2 and 5), which are plotted.
DRAWN = (
    "human",
    "ccl-roberta-large-ours-cnndm",
    "ccl-roberta-large-ours-wsj",
    "bartscore",
    "gruen",
    "sumqe",
)


def analyze(
    scored: Scored[CoherenceScores],
    *,
    runs: int = 100,
    intervals: bool = True,
    resamples: int = 1000,
    seed: int = 0,
) -> Frames:
    """Tidy tables of what Tables 1, 3, 4, 5 and 6 show, with the paper's figures in columns ``paper``,
    of the agreement of the annotators, and of what Figure 5 shows.

    ``runs``: over which the confounders with noise are averaged; 0 omits Table 1.
    ``resamples``: of documents and systems, for the 95% intervals of Table 3, and of documents, for
    those of Figure 5, if there are to be ``intervals``.
    """
    data = scored.data
    frames = {
        AGREEMENT: _agreement(scored, resamples if intervals else 0, seed),
        SHUFFLE: _shuffle(data),
        COMPONENTS: gruen_components(data),
        ENTITIES: entity_overlap(data),
        ANNOTATORS: annotator_agreement(data),
    }
    if intervals:
        frames[WITHIN_SYSTEMS] = _within_systems(scored, resamples, seed)
    if runs:
        frames[CONFOUNDERS] = confounder_statistics(data, runs, seed)
    return frames


def statistics_of(scores: Floats, judgements: Floats) -> dict[str, float]:
    """The five statistics of Table 3, by the paper's names; NaN if one is undefined."""
    return {
        name: float(weighted(scores, judgements, level, [method])[method][0])
        for name, (level, method) in STATISTICS.items()
    }


def judgements_of(data: CoherenceScores) -> Floats:
    """The judgements, (documents, systems)."""
    judged: Floats = data.table["coherence"].to_numpy(dtype=np.float64)
    return judged.reshape(-1, len(data.systems))


def architecture(data: CoherenceScores) -> Floats:
    """The confounder "architecture": whether a pretrained transformer wrote the summary, (documents,
    systems).
    """
    return _property(data, "pretrained_transformer")


def _agreement(scored: Scored[CoherenceScores], resamples: int, seed: int) -> pd.DataFrame:
    """Table 3: ``value``, ``low``, ``high`` of each measure and ``statistic``; documents and systems
    resampled.
    """
    rows: list[dict[str, Any]] = []
    for column in scored.analyzed():
        grid = scored.grid(column, "coherence")
        if not grid.documents:
            continue
        for name, value in statistics_of(grid.scores, grid.judgements).items():
            row = {"column": column.name, "statistic": name, "value": value}
            if resamples:
                level, method = STATISTICS[name]
                (ends,) = bootstrap(grid, levels=[level], methods=[method], n=resamples, seed=seed)[
                    ["low", "high"]
                ].to_dict("records")
                row |= ends
            rows.append(row)
    return with_paper(
        scored.tidy(rows, ["value", "low", "high"], statistic=STATISTICS), TABLE_3, ["statistic"]
    )


def _within_systems(scored: Scored[CoherenceScores], resamples: int, seed: int) -> pd.DataFrame:
    """Figure 5: ``value``, Kendall's tau-b of the summaries of each ``system``, ``low`` and ``high``, for
    the measures `DRAWN` and those from files; documents resampled.
    """
    rows: list[dict[str, Any]] = []
    for column, grid in drawn(scored).items():
        agreement = evaluate_all(
            by_system(grid),
            levels=["summary"],
            methods=["kendall_b"],
            resample="documents",
            n=resamples,
            seed=seed,
        )
        rows += agreement.assign(column=column, system=grid.systems).to_dict("records")
    return pd.DataFrame(rows, columns=["column", "measure", "system", "value", "low", "high"])


def drawn(scored: Scored[CoherenceScores]) -> dict[str, Grid]:
    """The columns that are plotted, `DRAWN` and those from files, and their grids."""
    grids = {
        column.name: scored.grid(column, "coherence")
        for column in scored.known
        if column.name in DRAWN or column.section == OWN
    }
    return {name: grid for name, grid in grids.items() if grid.documents}


def _shuffle(data: CoherenceScores) -> pd.DataFrame:
    """Table 4: ``measure``, ``accuracy`` (a tie counts as one half), ``paper``."""
    rows = [
        {
            "measure": LABELS[name],
            "accuracy": shuffle_accuracy(scores["original"], scores["shuffled"]),
            "paper": TABLE_4[LABELS[name]],
        }
        for name, scores in data.shuffle.items()
    ]
    return pd.DataFrame(rows, columns=["measure", "accuracy", "paper"])


def confounder_statistics(data: CoherenceScores, runs: int = 100, seed: int = 0) -> pd.DataFrame:
    """Table 1: the statistics of each pseudo-measure; NAME + " (r)" with ties broken at random,
    mean over runs.

    Without noise ``τ_intra`` is NaN. Capitalization is the property of the system, because the
    first letter of each sentence of these texts has been capitalized; the paper counts capitals.
    """
    judgements = judgements_of(data)
    pseudo_measures = {
        "capitalization": _property(data, "produces_capitals"),
        "architecture": architecture(data),
        "upper bound": system_upper_bound(judgements),
    }
    rows = {}
    for name, values in pseudo_measures.items():
        rows[name] = pd.Series(statistics_of(values, judgements))
        noisy = [statistics_of(break_ties(values, seed + run), judgements) for run in range(runs)]
        rows[f"{name} (r)"] = pd.DataFrame(noisy).mean(skipna=False)
    table = pd.DataFrame(rows).T.rename_axis(index="confounder", columns="statistic")
    paper = TABLE_1.rename_axis(index="confounder", columns="statistic").stack().rename("paper")
    return table.stack().rename("value").to_frame().join(paper).reset_index()


def _property(data: CoherenceScores, name: str) -> Floats:
    """A property of the systems (0 or 1) as a measure."""
    values = data.properties.loc[data.systems, name].astype(int)
    return from_property(list(values), len(data.documents))


def entity_overlap(data: CoherenceScores) -> pd.DataFrame:
    """Table 6: the share of texts without an entity that two of their sentences have in common, and
    the mean share of sentences without one. The entities are `content_words`; in the paper, they are
    those of the Brown Coherence Toolkit.
    """
    corpora = {"CNN/DM Ref.": data.references, "SummEval": data.summaries}
    rows = []
    for corpus, texts in corpora.items():
        shares = np.array([unlinked_sentences(text) for text in texts])
        documents, sentences = TABLE_6[corpus]
        rows.append(
            {
                "corpus": corpus,
                "texts": len(texts),
                "documents": float((shares == 1).mean()),
                "documents_paper": documents,
                "sentences": float(shares.mean()),
                "sentences_paper": sentences,
            }
        )
    return pd.DataFrame(rows)


def annotator_agreement(data: CoherenceScores) -> pd.DataFrame:
    """The statistics of Table 3 for each expert, against the mean of the other experts. ``published``
    says whether the scores of the measure ``human`` are this expert's.
    """
    shape = judgements_of(data).shape
    human = data.table.get("human", pd.Series(dtype=float))
    rows = []
    for number, expert in data.annotations.items():
        others = data.annotations.drop(columns=number).mean(axis=1)
        agreement = statistics_of(
            expert.to_numpy().reshape(shape), others.to_numpy().reshape(shape)
        )
        is_published = bool(np.array_equal(expert, human))
        rows.append({"expert": number, "published": is_published, **agreement})
    return pd.DataFrame(rows)


def gruen_components(data: CoherenceScores) -> pd.DataFrame:
    """Table 5: system-level tau-b with coherence of GRUEN's components (both names equal) and of
    each sum of two.

    They are used in the form in which they enter GRUEN: ``cola / 8``, ``exp(-lm / 2) / 8`` (``lm``
    is a loss), penalties unchanged.
    """
    components = data.components.assign(
        cola=data.components["cola"] / 8, lm=np.exp(-data.components["lm"] / 2) / 8
    )
    judgements = judgements_of(data)
    rows = []
    for (first, second), printed in TABLE_5.items():
        total = components[list({first, second})].sum(axis=1).to_numpy().reshape(judgements.shape)
        value = correlate(total, judgements, level="system", method="kendall_b")
        rows.append({"component": first, "other": second, "value": value, "paper": printed})
    return pd.DataFrame(rows)
