"""What is computed of the published scores and of the texts: the statistics of Tables 1, 3, 4, 5 and
6, and how the annotators agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from estime_metric.studies.benchmarks.coherence_scores.data import CoherenceScores
from estime_metric.studies.benchmarks.coherence_scores.published import LABELS, TABLE_5
from estime_metric.studies.benchmarks.shared.blocks import ScoreColumn
from estime_metric.studies.benchmarks.shared.frames import Frames, each_column
from estime_metric.studies.benchmarks.shared.scores import Scores
from estime_metric.studies.coherence_measures.entity_graph import unlinked_sentences
from estime_metric.studies.meta import bootstrap, correlate
from estime_metric.studies.meta.confounders import break_ties, from_property, system_upper_bound
from estime_metric.studies.meta.correlations import weighted
from estime_metric.studies.meta.shuffle import accuracy_by_length_difference, shuffle_accuracy
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


def analyze(
    scores: Scores[CoherenceScores],
    *,
    runs: int = 100,
    intervals: bool = True,
    resamples: int = 1000,
    seed: int = 0,
) -> Frames:
    """Tidy tables of what Tables 1, 3, 4, 5 and 6 show, and of the agreement of the annotators, as far
    as the data has what they need.

    ``runs``: over which the confounders with noise are averaged; 0 omits Table 1.
    ``resamples``: of documents and systems, for the 95% intervals of Table 3, if there are to be
    ``intervals``.
    """
    data = scores.data
    frames = {
        AGREEMENT: each_column(
            scores,
            lambda column: _agreement(scores, column, resamples if intervals else 0, seed),
            ["statistic", "value", "low", "high"],
        ),
        SHUFFLE: _shuffle(data),
    }
    if len(data.components):
        frames[COMPONENTS] = gruen_components(data)
    if data.references:
        frames[ENTITIES] = entity_overlap(data)
    if len(data.annotations):
        frames[ANNOTATORS] = annotator_agreement(data)
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


def _agreement(
    scores: Scores[CoherenceScores], column: ScoreColumn, resamples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Table 3's row of a measure; documents and systems resampled."""
    grid = scores.grid(column, "coherence")
    if not grid.documents:  # a file of scores lacks a system for each of them
        return
    for name, value in statistics_of(grid.scores, grid.judgements).items():
        low, high = np.nan, np.nan
        if resamples:
            level, method = STATISTICS[name]
            resampled = bootstrap(grid, levels=[level], methods=[method], n=resamples, seed=seed)
            low, high = resampled.loc[0, ["low", "high"]]
        yield {"statistic": name, "value": value, "low": low, "high": high}


def _shuffle(data: CoherenceScores) -> pd.DataFrame:
    """Table 4: ``measure``, ``accuracy`` (a tie counts as one half), and ``across`` different texts."""
    rows = [
        {
            "measure": LABELS[name],
            "accuracy": shuffle_accuracy(scores["original"], scores["shuffled"]),
            "across": accuracy_across(scores),
        }
        for name, scores in data.shuffle.items()
    ]
    return pd.DataFrame(rows, columns=["measure", "accuracy", "across"])


def accuracy_across(scores: pd.DataFrame) -> float:
    """The shuffle accuracy of each original and the shuffled form of each *other* text (section
    7.4); NaN of fewer than two texts.
    """
    texts = len(scores)
    curve = accuracy_by_length_difference(
        scores["original"], scores["shuffled"], np.zeros(texts), pairs=max(texts * (texts - 1), 1)
    )
    return float(curve.means[0]) if len(curve.means) else float("nan")


def confounder_statistics(data: CoherenceScores, runs: int = 100, seed: int = 0) -> pd.DataFrame:
    """Table 1: the statistics of each pseudo-measure; NAME + " (r)" with ties broken at random,
    mean over runs.

    Without noise ``τ_intra`` is NaN. Capitalization is the property of the system, because the
    first letter of each sentence of these texts has been capitalized; the paper counts capitals.
    """
    judgements = judgements_of(data)
    pseudo_measures = {
        "capitalization": _property(data, "produces_capitals"),
        "architecture": _property(data, "pretrained_transformer"),
        "upper bound": system_upper_bound(judgements),
    }
    rows = {}
    for name, values in pseudo_measures.items():
        rows[name] = pd.Series(statistics_of(values, judgements))
        noisy = [statistics_of(break_ties(values, seed + run), judgements) for run in range(runs)]
        rows[f"{name} (r)"] = pd.DataFrame(noisy).mean(skipna=False)
    return pd.DataFrame(rows).T.rename_axis("confounder").reset_index()


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
        rows.append(
            {
                "corpus": corpus,
                "texts": len(texts),
                "documents": float((shares == 1).mean()),
                "sentences": float(shares.mean()),
            }
        )
    return pd.DataFrame(rows)


def annotator_agreement(data: CoherenceScores) -> pd.DataFrame:
    """The statistics of Table 3 for each expert, against the mean of the other experts. ``published``
    says whether the scores of the measure ``human`` are this expert's.
    """
    shape = judgements_of(data).shape
    human = data.published.get("human", pd.Series(dtype=float))
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
    for first, second in TABLE_5:
        total = components[list({first, second})].sum(axis=1).to_numpy().reshape(judgements.shape)
        value = correlate(total, judgements, level="system", method="kendall_b")
        rows.append({"component": first, "other": second, "value": value})
    return pd.DataFrame(rows)
