"""The whole study: data, scores, correlations, tables, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from estime_metric.scorer import EstimeScorer
from estime_metric.studies.shared.estime_block import estime_block
from estime_metric.studies.shared.scoring import Block, Scores, measure
from estime_metric.studies.shared.writing import write_study
from estime_metric.studies.summeval import plots, report
from estime_metric.studies.summeval.blocks import baseline_blocks
from estime_metric.studies.summeval.comparison import own_differences
from estime_metric.studies.summeval.data import HUB_DATASET, SummEval, from_hub, read_folder
from estime_metric.tables import Table

#: Tidy table of all correlations.
CORRELATIONS = "correlations.csv"


@dataclass(frozen=True, eq=False)
class Study:
    """What was found.

    Attributes:
        scores: of every summary.
        correlations: tidy, see `report.correlations`.
        tables: ``table1``, ``table2``, ``intervals``; ``layers`` where several were read, ``own`` where scores of files
            stand beside ours; by name.
    """

    scores: Scores[SummEval]
    correlations: pd.DataFrame
    tables: Mapping[str, Table]


def read(folder: Path | None = None, dataset: str | None = None, limit: int | None = None) -> SummEval:
    """SummEval from a folder (see `read_folder`), else from the Hub or a folder of its layout (see `from_hub`).

    Args:
        folder: the folder.
        dataset: name on the Hub; ``None`` for the usual one, at a fixed commit; another one is read as it is now.
        limit: only so many documents, the first ones; ``None`` for all.

    Raises:
        ImportError, OSError, ValueError: as `read_folder` and `from_hub`.
    """
    if folder is not None:
        data = read_folder(folder)
    elif dataset in (None, HUB_DATASET):
        data = from_hub()
    else:
        data = from_hub(str(dataset), revision=None)
    return data if limit is None else data.head(limit)


def all_blocks(
    options: Mapping[str, Any],
    units: Sequence[str],
    *,
    combine: str,
    bert_model: str | None,
    bert_layer: int | None = None,
    others: Sequence[Block] = (),
    progress: bool = False,
) -> list[Block]:
    """ESTIME with each unit, then the other measures. The encoder is loaded, so that a bad option is known at once.

    Args:
        options: of `EstimeConfig`, but ``unit``.
        units: some of ``token`` and ``word``.
        combine, bert_model, bert_layer: as `baseline_blocks`.
        others: further blocks, as `blanc_block` and `own_blocks` make them.
        progress: bars of the scorer.

    Raises:
        EncoderUnavailableError, TypeError, ValueError: as `EstimeScorer`; or a unit is named twice, or none.
    """
    if not units or len(set(units)) < len(units):
        raise ValueError(f"Expected argument `units` to name each unit once, but got {', '.join(units) or 'none'}.")
    baselines = baseline_blocks(
        combine=combine, bert_model=bert_model, bert_layer=bert_layer, device=options.get("device")
    )
    scorers = [EstimeScorer(**_options_of(unit, options)) for unit in units]
    return [*(estime_block(scorer, progress=progress) for scorer in scorers), *baselines, *others]


def _options_of(unit: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for one of the units; the splitter only where it splits something."""
    chosen = {**options, "unit": unit}
    if unit == "token" and options.get("tagger") is None:
        chosen.pop("splitter", None)
    return chosen


def run(
    data: SummEval,
    blocks: Sequence[Block],
    *,
    folder: Path | None = None,
    resume: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    progress: bool = False,
) -> Study:
    """Measures, correlates, and makes the tables.

    Args:
        data: what is scored.
        blocks: the measures, see `all_blocks`.
        folder: scores, correlations, tables and plots are written there; without matplotlib no plots, which
            ``Scores.problems`` says.
        resume: as `measure`.
        resamples, seed: as `report.correlations`.
        progress: bars on stderr.

    Raises:
        OSError, ValueError: as `measure`.
    """
    scores = measure(data, blocks, folder=folder, resume=resume, progress=progress)
    with tqdm(total=len(scores.measures), desc="intervals", unit="measure", disable=not progress) as bar:
        found = report.correlations(scores, resamples=resamples, seed=seed, advance=bar.update)
    made = [report.table_1(scores, found), report.table_2(scores, found), report.intervals(scores, found)]
    optional = (report.layers(scores, found), own_differences(scores, resamples=resamples, seed=seed))
    study = Study(scores, found, {table.name: table for table in (*made, *optional) if table is not None})
    if folder is not None:
        pictures = partial(plots.draw, scores, found, seed=seed)
        scores.problems |= write_study(folder, {CORRELATIONS: found}, study.tables.values(), pictures)
    return study
