"""What the benchmarks share: rows of a file, scores of every summary, tables.

A benchmark reads its data as one data frame, numbered from 0, with a row per summary: ``document``,
``system``, ``source``, ``summary``, what people judged, and scores that come with the data, in columns
that begin with `PUBLISHED`. Its scores are a data frame with the same rows and a column per measure,
higher is better; ``(-)`` in front of a name says that the measure's values are negated.
"""

# Annotations are evaluated here, not postponed, because Cyclopts reads them in other modules.
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from cyclopts import Parameter
from rich.console import Console

from estime_metric.checks import check_choice
from estime_metric.cli import options
from estime_metric.cli.console import say_wrote
from estime_metric.compare import read_scores
from estime_metric.jobs import score_files
from estime_metric.jobs.job import Job
from estime_metric.measures import HIGHER_IS_BETTER, measure_of
from estime_metric.scorer import EstimeScorer
from estime_metric.show.cells import fixed, interval_cell, print_columns
from estime_metric.studies.columns import NOT_MEASURES
from estime_metric.studies.keyed import by_summary, numeric_columns, read_keyed
from estime_metric.studies.meta.resampling import draw_items
from estime_metric.table.arrays import Floats
from estime_metric.table.formats import encode_json_lines
from estime_metric.table.intervals import interval_of
from estime_metric.table.table import measure_columns
from estime_metric.wording.source import NOVELTY, novelty
from estime_metric.wording.words import lower_words

#: What the names of columns of published scores begin with; higher is better.
PUBLISHED = "published: "
NEW_NGRAMS = ["new_words", "new_bigrams", "new_trigrams"]
_TEXTS = ["source", "summary"]
#: Columns of files of scores that are not measures.
NOT_SCORES = (*NOT_MEASURES, "label", "factuality", "judgement", "n_missing")


def records(path: Path) -> pd.DataFrame:
    """The objects of a JSON array or of JSON Lines."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        return pd.DataFrame([json.loads(line) for line in text.split("\n") if line])
    return pd.DataFrame(json.loads(text))


def find_file(folder: Path, *names: str) -> Path | None:
    """The first of some files that a folder, or its folder ``data``, has."""
    places = (place / name for name in names for place in (folder, folder / "data"))
    return next((place for place in places if place.is_file()), None)


def with_sources(judged: pd.DataFrame, documents: Path) -> pd.DataFrame:
    """Judged summaries with the sources of a file that has ``doc_id`` and ``source``; ``document`` and
    ``system`` are text.
    """
    sources = records(documents)[["doc_id", "source"]]
    table = judged.merge(sources, on="doc_id", how="left", validate="many_to_one")
    if table["source"].isna().any():
        raise ValueError(f"Expected {documents.name} to have the source of each document.")
    return table.rename(columns={"doc_id": "document"}).astype({"document": str, "system": str})


def published_scores(table: pd.DataFrame) -> pd.DataFrame:
    """The scores that come with the data, by the names of the measures."""
    scores = table.filter(regex=f"^{PUBLISHED}").astype(np.float64)
    return scores.rename(columns=lambda name: name.removeprefix(PUBLISHED))


def trivial_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Baselines without an encoder: the measures of `novelty`, the mean of the three shares, the new names
    and numbers with the share of new words as a tie-break, the number of new words, and the length.
    """
    columns = novelty(list(table["summary"]), list(table["source"]))
    texts = pd.DataFrame(columns, table.index).fillna({"new_names": 0.0})
    known = {source: frozenset(lower_words(source)) for source in table["source"].unique()}
    words = [lower_words(summary) for summary in table["summary"]]
    pairs = zip(words, table["source"], strict=True)
    lower = texts.drop(columns="copied_density").assign(
        **{
            "mean of new n-grams": texts[NEW_NGRAMS].mean(axis=1),
            # Of two summaries with equally many, the one with the smaller share is better.
            "new facts, then words": 2 * (texts["new_names"] + texts["new_numbers"])
            + texts["new_words"],
            "number of new words": [
                sum(word not in known[source] for word in own) for own, source in pairs
            ],
            "length": [len(own) for own in words],
        }
    )
    return (0.0 - lower.add_prefix("(-)")).assign(copied_density=texts["copied_density"])


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Run:
    """How the summaries are scored, and where the results go.

    Attributes:
        output: Folder for scores and tables. Scores of an earlier run with the same texts and settings are
            used again, and an interrupted run is continued.
        scores: Your own scores: a table with a row per summary and a column per measure. Can be given
            several times.
        lower: Column of --scores in which lower is better. Can be given several times.
        resamples: Bootstrap samples of the intervals.
        seed: Random seed.
    """

    output: Annotated[Path, Parameter(alias="-o")] = Path("results")
    scores: tuple[Path, ...] = ()
    lower: tuple[str, ...] = ()
    resamples: options.PositiveCount = 1000
    seed: options.Seed = 0
    metric: options.ScoringOptions = options.SCORING

    def score(self, table: pd.DataFrame) -> pd.DataFrame:
        """The scores of all summaries: ESTIME, trivial baselines, own scores, published ones."""
        files = {path: read_keyed(path) for path in self.scores}
        for name in self.lower:
            check_choice("lower", name, [column for own in files.values() for column in own])
        own = [self._own_scores(table, own, path.stem) for path, own in files.items()]
        parts = [self._estime(table), trivial_scores(table), *own, published_scores(table)]
        return pd.concat(parts, axis=1)

    def _estime(self, table: pd.DataFrame) -> pd.DataFrame:
        """The scores of ESTIME by the names of its measures. Jobs score the pairs that no file of scores
        with the same signature in the output folder has; the files of a job are named after the
        signature and its pairs.
        """
        scorer = EstimeScorer(**self.metric.settings())
        config = scorer.resolved_config
        measures = [name for name in config.reported_measures if name in HIGHER_IS_BETTER]
        names = [
            name
            for name in measure_columns(measures, config.layer_tuple)
            if measure_of(name) not in NOVELTY
        ]
        self.output.mkdir(parents=True, exist_ok=True)
        signed = f"scores-{_digest(str(scorer.signature).encode())}"
        # Equal sources one after the other: they are encoded once.
        wanted = table[_TEXTS].drop_duplicates().sort_values("source", kind="stable")
        known = self._known(signed)
        missing = wanted[~pd.MultiIndex.from_frame(wanted).isin(known.index)]
        if len(missing):
            lines = encode_json_lines(missing.to_dict("records"))
            name = f"{signed}-{_digest(lines)}"
            pairs = self.output / f"pairs-{name}.jsonl"
            pairs.write_bytes(lines)
            job = Job(inputs=(pairs,), output=self.output / f"{name}.jsonl", keep_texts=True)
            score_files(job, scorer, existing="resume", progress=True)
            known = self._known(signed)
        scored = known.loc[pd.MultiIndex.from_frame(table[_TEXTS]), names].set_axis(table.index)
        return pd.DataFrame(dict(map(oriented, scored.items())))

    def _known(self, signed: str) -> pd.DataFrame:
        """All scores of a signature in the output folder, by source and summary."""
        paths = sorted(self.output.glob(f"{signed}-*.jsonl"))
        tables = [pd.DataFrame(columns=_TEXTS), *map(read_scores, paths)]
        return pd.concat(tables).drop_duplicates(_TEXTS).set_index(_TEXTS)

    def _own_scores(self, table: pd.DataFrame, own: pd.DataFrame, name: str) -> pd.DataFrame:
        """The scores of a file, in columns ``MEASURE [NAME]``; a column ``score`` is called ``NAME``."""
        columns = numeric_columns(own, NOT_SCORES)
        known = table[["document", "system"]].astype(str)
        scores = by_summary(own, columns, repr(name), known["system"].unique())
        scores = scores.reindex(pd.MultiIndex.from_frame(known))
        if scores.isna().all(axis=None):
            raise ValueError(f"Expected {name!r} to score summaries of the data, but it has none.")
        named = {}
        for column in columns:
            is_lower = column in self.lower or HIGHER_IS_BETTER.get(measure_of(column)) is False
            values = scores[column].to_numpy(dtype=np.float64)
            called = name if column == "score" else f"{column} [{name}]"
            named[f"{'(-)' * is_lower}{called}"] = 0.0 - values if is_lower else values
        return pd.DataFrame(named, table.index)

    def weights(self, groups: pd.Series) -> Floats:
        """How often the sample itself, and then each resample of whole groups, contains each row; float64
        of shape (1 + resamples, rows).
        """
        codes, names = pd.factorize(groups)
        drawn = draw_items(len(names), self.resamples, self.seed)
        return np.concatenate([np.ones((1, len(names))), drawn])[:, codes]

    def save(self, **tables: pd.DataFrame) -> None:
        """Writes tidy tables as CSV files of these names."""
        self.output.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            table.to_csv(self.output / f"{name}.csv", index=False, lineterminator="\n")
        say_wrote(", ".join(f"{name}.csv" for name in tables), self.output)


#: What a command has if none of these options is given.
RUN = Run()


def oriented(column: tuple[Any, pd.Series]) -> tuple[str, pd.Series]:
    """The name and the values of a measure, higher is better."""
    name, values = column
    numbers = values.astype(np.float64)
    if HIGHER_IS_BETTER[measure_of(name)]:
        return name, numbers
    return f"(-){name}", 0.0 - numbers  # no minus zero


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def with_interval(drawn: Floats, name: str = "value") -> dict[str, float]:
    """The value of the sample, the first of ``drawn``, and the ends of the 95% interval of the others:
    ``NAME``, ``NAME_low``, ``NAME_high``.
    """
    around = interval_of(drawn[1:])
    return {name: float(drawn[0]), f"{name}_low": around.low, f"{name}_high": around.high}


def interval_texts(table: pd.DataFrame, name: str, decimals: int = 2) -> list[str]:
    """The intervals of a value as texts."""
    ends = zip(table[f"{name}_low"], table[f"{name}_high"], strict=True)
    return [interval_cell(low, high, decimals) for low, high in ends]


def show(title: str, table: pd.DataFrame, decimals: int = 3) -> None:
    """Prints a table, whose index has the rows' names."""
    columns: dict[str, Sequence[Any]] = {"": [str(name) for name in table.index]}
    texts = {""}
    for name, cells in table.items():
        heading = " ".join(map(str, name)) if isinstance(name, tuple) else str(name)
        if cells.dtype == object:
            texts.add(heading)
            columns[heading] = ["" if isinstance(cell, float) else str(cell) for cell in cells]
        elif cells.dtype.kind == "f":
            columns[heading] = [fixed(cell, decimals) for cell in cells]
        else:
            columns[heading] = cells.tolist()
    width = max(Console().width, 160)  # whole names in a log too
    print_columns(columns, texts=texts, title=title, console=Console(width=width))


def wide(table: pd.DataFrame, values: Sequence[str], by: str | Sequence[str]) -> pd.DataFrame:
    """A row per measure and a column per value and ``by``, both in the order in which they occur."""
    names = [by] if isinstance(by, str) else list(by)
    pivot = table.pivot(index="measure", columns=names, values=list(values))
    pivot = pivot.reindex(table["measure"].unique())
    keys = table[names].drop_duplicates().itertuples(index=False, name=None)
    order = [(value, *key) for key in keys for value in values]
    return pivot[order]
