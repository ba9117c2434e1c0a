"""Systems with texts and without scores -> their tables of scores, with the settings of the systems that
have scores.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from estime_metric._version import __version__
from estime_metric.compare.examples import DEFAULT_MEASURES, needs_encoder
from estime_metric.compare.join import has_scores
from estime_metric.config import EstimeConfig
from estime_metric.config_file import is_record_of_scores, options_of
from estime_metric.measures import MEASURES, measure_of
from estime_metric.signature import Signature
from estime_metric.table.rows import Layout, pair_problem
from estime_metric.table.table import LINE, SIGNATURE, SOURCE_ID, measure_columns

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.scorer import EstimeScorer

_CACHE = 1 << 30  # bytes of sources that are kept from one system to the next
_PLANNED = "ESTIME|planned"


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """What has to be scored before systems can be compared, and how.

    Attributes:
        names: the systems that are scored.
        settings: the arguments of `EstimeScorer`.
        layout: the columns of the texts.
        asked: the columns that the user names.
        leader: the system whose settings these are; ``None`` for the defaults.
        signature: that of the leader's scores, which all others must have; empty for the defaults.
        base: the leader, if it is scored again should its signature be another.
        command: what scores the leader again.
    """

    names: tuple[str, ...]
    settings: dict[str, Any]
    layout: Layout
    asked: Collection[str]
    leader: str | None = None
    signature: str = ""
    base: str | None = None
    command: str = ""

    def planned(self, systems: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
        """The systems with zeros in place of the scores that they will have: for checks."""
        scores = dict.fromkeys(self._columns, 0.0)
        signature = self.signature or _PLANNED
        return {
            name: self._own(name, table).assign(**scores, **{SIGNATURE: signature})
            if name in self.names
            else table
            for name, table in systems.items()
        }

    def scored(self, systems: Mapping[str, DataFrame], *, progress: bool) -> dict[str, DataFrame]:
        """The systems with their scores. Loads the encoder.

        Raises ValueError if texts cannot be scored with the settings of the leader on this machine.
        """
        scorer = self._loaded()
        names = self.names
        if self.signature and scorer.signature != self.signature:
            if self.base is None:
                raise self._refused(f"their signature would be {scorer.signature}")
            check_texts(self.base, systems[self.base], self.layout)
            names = (*names, self.base)
        tables = dict(systems)
        for name in names:
            table = systems[name]
            sources, summaries = (table[column].tolist() for column in self.layout.text_columns)
            scores = scorer.score(summaries, sources, progress=progress).table()
            scores = scores.drop(columns=LINE).set_axis(table.index)
            tables[name] = self._own(name, table).join(scores)
        return tables

    @property
    def _columns(self) -> list[str]:
        """The measures that are computed."""
        config = EstimeConfig.from_options(None, self.settings)
        return measure_columns(config.reported_measures, config.layer_tuple or (0,))

    def _own(self, name: str, table: DataFrame) -> DataFrame:
        """A table without the columns that are computed. ValueError if the user names one of them that
        is not ESTIME's.
        """
        computed = [
            column
            for column in table
            if column in (SOURCE_ID, SIGNATURE) or measure_of(str(column)) in MEASURES
        ]
        for column in [] if has_scores(table) else computed:
            is_measure = column in self._columns and measure_of(column) in self.asked
            if column in self.asked or is_measure:
                raise ValueError(
                    f"Expected {column!r} to be computed for {name}, but {name} has a column of yours with "
                    "this name. Rename it. If 'estime score' wrote it, the file needs its .meta.json."
                )
        return table.drop(columns=computed)

    def _loaded(self) -> EstimeScorer:
        from estime_metric.scorer import EstimeScorer  # imports torch: slow

        try:
            scorer = EstimeScorer(**self.settings, cache=_CACHE if len(self.names) > 1 else None)
            scorer.load()
        except (TypeError, ValueError, OSError, ImportError) as error:
            if self.leader is None:
                raise
            raise self._refused(str(error).rstrip(".")) from error
        return scorer

    def _refused(self, reason: str) -> ValueError:
        return ValueError(
            f"Expected {' and '.join(self.names)} to have scores, because they cannot be scored with the "
            f"settings of {self.leader} here: {reason}. Score {self.leader} again: {self.command}"
        )


def plan_scoring(
    systems: Mapping[str, DataFrame],
    measures: Sequence[str] | None,
    layout: Layout,
    *,
    asked: Collection[str] = (),
    gate: tuple[str, str] | None = None,
) -> Scoring | None:
    """What has to be scored; ``None`` if nothing.

    Args:
        systems: the table of each system.
        measures: those that are compared.
        layout: the columns of the texts.
        asked: the other columns that the user names.
        gate: the base and the new system. The settings are then those of the new one, and a base with
            another signature is scored again.

    Raises:
        ValueError: systems with scores were scored with another version of this package; or a base has
            to be scored again, and a text is missing.
    """
    requested = DEFAULT_MEASURES if measures is None else measures
    if not needs_encoder(requested):
        return None
    signatures = {
        name: str(table[SIGNATURE].iloc[0]) for name, table in systems.items() if has_scores(table)
    }
    names = tuple(name for name in systems if name not in signatures)
    base = gate[0] if gate else ""
    leader = gate[1] if gate and gate[1] in signatures else next(iter(signatures), None)
    record: Mapping[str, Any] = {}
    if leader is not None:
        record = systems[leader].attrs.get("record", {})
    signature = signatures.get(leader or "", "")
    if signatures.get(base, signature) != signature:
        names = (*names, base)
    if not names:
        return None
    settings = options_of(record) if is_record_of_scores(record) else {}
    ours = [name for name in map(measure_of, requested) if name in MEASURES]
    settings["measures"] = tuple(dict.fromkeys((*settings.get("measures", ()), *ours)))
    scoring = Scoring(
        names=names,
        settings=settings,
        layout=layout,
        asked={*asked, *requested, *layout.text_columns},
        leader=leader,
        signature=signature,
        base=base if base == leader else None,
        command=shlex.join(["estime", "score", *record.get("inputs", [str(leader)]), "-o", "FILE"]),
    )
    version = Signature(signature).parts.get("version", __version__)
    if version != __version__:
        if scoring.base is None:
            raise scoring._refused(f"they have version {version}, and this is {__version__}")
        scoring = replace(scoring, names=(*names, base), signature="", base=None)
    for name in set(scoring.names).intersection(signatures):
        check_texts(name, systems[name], layout)
    return scoring


def check_texts(name: str, table: DataFrame, layout: Layout) -> None:
    """Raises ValueError unless each row has two texts, with which it can be scored again."""
    for line, problem in problems_of_texts(table, layout).items():
        raise ValueError(
            f"Expected {name} to have the signature of the others, or texts that can be scored again, but "
            f"it has {table[SIGNATURE].iloc[0]}, and line {line}: {problem}."
        )


def problems_of_texts(table: DataFrame, layout: Layout) -> dict[int, str]:
    """Line -> what keeps the row from being scored."""
    columns = layout.text_columns
    texts = table.reindex(columns=columns).astype(object)
    rows = texts.where(texts.notna(), None).to_dict("index")
    problems = {line: pair_problem(row, *columns) for line, row in rows.items()}
    return {line: problem for line, problem in problems.items() if problem}
