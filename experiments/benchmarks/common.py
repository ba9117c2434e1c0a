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
from estime_metric.explanation import Explanation
from estime_metric.jobs import score_files
from estime_metric.jobs.job import Job
from estime_metric.measures import FURTHER_MEASURES, HIGHER_IS_BETTER, measure_of, reported_name
from estime_metric.novelty import lower_words, novelty
from estime_metric.scorer import EstimeScorer
from estime_metric.show.tables import fixed, interval_cell, print_columns
from estime_metric.studies.columns import NOT_MEASURES
from estime_metric.studies.keyed import by_summary, numeric_columns, read_keyed
from estime_metric.studies.meta.resampling import draw_items
from estime_metric.table.arrays import Floats
from estime_metric.table.intervals import interval_of
from estime_metric.table.table import encode_json_lines, read

#: What the names of columns of published scores begin with; higher is better.
PUBLISHED = "published: "
NEW_NGRAMS = ["new_words", "new_bigrams", "new_trigrams"]
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
    """Baselines without an encoder: words that do not occur in the source, the shares of such words,
    bigrams and trigrams and their mean, copying, and the length.
    """
    columns = novelty(list(table["summary"]), list(table["source"]))
    texts = pd.DataFrame({name: columns[name] for name in (*NEW_NGRAMS, "copied_density")})
    known = {source: frozenset(lower_words(source)) for source in table["source"].unique()}
    words = [lower_words(summary) for summary in table["summary"]]
    absent = [
        sum(word not in known[source] for word in own)
        for own, source in zip(words, table["source"], strict=True)
    ]
    return pd.DataFrame(
        {
            "(-)absent words": 0.0 - np.array(absent),
            "(-)new words": 0.0 - texts["new_words"],
            "(-)new bigrams": 0.0 - texts["new_bigrams"],
            "(-)new trigrams": 0.0 - texts["new_trigrams"],
            "(-)new n-grams, mean": 0.0 - np.mean(texts[NEW_NGRAMS].to_numpy(), axis=1),
            "copied_density": texts["copied_density"],
            "(-)length": 0.0 - np.array([len(own) for own in words]),
        },
        dtype=np.float64,
    )


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

    def score(self, table: pd.DataFrame, *, further: bool = True) -> pd.DataFrame:
        """The scores of all summaries: ESTIME, trivial baselines, own scores, published ones. Measures
        that need more than the embeddings of a pair are left out unless ``further``.
        """
        files = {path: read_keyed(path) for path in self.scores}
        for name in self.lower:
            check_choice("lower", name, [column for own in files.values() for column in own])
        own = [self._own_scores(table, own, path.stem) for path, own in files.items()]
        parts = [self._estime(table, further), trivial_scores(table), *own, published_scores(table)]
        return pd.concat(parts, axis=1)

    def _estime(self, table: pd.DataFrame, further: bool) -> pd.DataFrame:
        """Scores from a job whose output is named after the texts and the settings."""
        measures = [
            name
            for name in HIGHER_IS_BETTER
            if name not in NEW_NGRAMS and (further or name not in FURTHER_MEASURES)
        ]
        scorer = EstimeScorer(measures=measures, **self.metric.settings())
        # Equal sources one after the other: they are encoded once.
        texts = table[["source", "summary"]].sort_values("source", kind="stable")
        lines = encode_json_lines(texts.to_dict("records"))
        identity = f"{scorer.signature} {measures}".encode() + lines
        name = hashlib.sha256(identity).hexdigest()[:12]
        pairs, output = (self.output / f"{kind}-{name}.jsonl" for kind in ("pairs", "scores"))
        self.output.mkdir(parents=True, exist_ok=True)
        pairs.write_bytes(lines)
        score_files(Job(inputs=(pairs,), output=output), scorer, existing="resume", progress=True)
        scored = read(output).set_index("line").reindex(range(1, len(texts) + 1))
        scored = scored.set_index(texts.index).sort_index()
        layers = scorer.resolved_config.layer_tuple
        return pd.DataFrame(
            {
                label(measure, layer): oriented(
                    scored[reported_name(measure, layer, layers)], measure
                )
                for measure in measures
                for layer in layers
            }
        )

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

    def explain(self, table: pd.DataFrame) -> list[Explanation]:
        """The explanations of all summaries."""
        scorer = EstimeScorer(**self.metric.settings())
        pairs = list(table["summary"]), list(table["source"])
        return scorer.explain_pairs(*pairs, progress=True)

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


def label(measure: str, layer: int) -> str:
    """A measure's row in the tables: ``(-)ESTIME-21`` is the paper's name for alarms."""
    name = "ESTIME" if measure == "alarms" else measure
    return f"{'' if HIGHER_IS_BETTER[measure] else '(-)'}{name}-{layer}"


def oriented(values: pd.Series, measure: str) -> pd.Series:
    """The values of a measure, higher is better."""
    numbers = values.astype(np.float64)
    return numbers if HIGHER_IS_BETTER[measure] else 0.0 - numbers  # no minus zero


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
    width = max(Console().width, 120)  # whole names in a log too
    print_columns(columns, texts=texts, title=title, console=Console(width=width))


def wide(table: pd.DataFrame, values: Sequence[str], by: str | Sequence[str]) -> pd.DataFrame:
    """A row per measure and a column per value and ``by``, both in the order in which they occur."""
    names = [by] if isinstance(by, str) else list(by)
    pivot = table.pivot(index="measure", columns=names, values=list(values))
    pivot = pivot.reindex(table["measure"].unique())
    keys = table[names].drop_duplicates().itertuples(index=False, name=None)
    order = [(value, *key) for key in keys for value in values]
    return pivot[order]
