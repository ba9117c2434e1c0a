"""Systems with texts and without scores -> their tables of scores, with the settings of the systems that
have scores.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from estime_metric._version import __version__
from estime_metric.compare.examples import DEFAULT_MEASURES, needs_encoder, text_problems
from estime_metric.compare.join import has_scores
from estime_metric.config import EstimeConfig
from estime_metric.config_file import is_record_of_scores, options_of
from estime_metric.measures import MEASURES, measure_of
from estime_metric.signature import Signature
from estime_metric.table.rows import Layout
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
        command: what scores the leader again.
    """

    names: tuple[str, ...]
    settings: dict[str, Any]
    layout: Layout
    asked: Collection[str]
    leader: str | None = None
    signature: str = ""
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
        if self.signature and scorer.signature != self.signature:
            raise self.refused(f"their signature would be {scorer.signature}")
        tables = dict(systems)
        for name in self.names:
            table = systems[name]
            sources, summaries = (table[column].tolist() for column in self.layout.text_columns)
            scores = scorer.score(summaries, sources, progress=progress).table()
            scores = scores.drop(columns=LINE).set_axis(table.index)
            tables[name] = self._own(name, table).join(scores)
            tables[name].attrs = table.attrs
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
            raise self.refused(str(error).rstrip(".")) from error
        return scorer

    def refused(self, reason: str) -> ValueError:
        """The error if scores cannot be those of the leader."""
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
    baseline: str | None = None,
    is_gate: bool = False,
) -> Scoring | None:
    """What has to be scored; ``None`` if nothing.

    Args:
        systems: the table of each system.
        measures: those that are compared.
        layout: the columns of the texts.
        asked: the other columns that the user names.
        baseline: the system with which others are compared.
        is_gate: whether the second of two systems (the one that is not the baseline) is judged. The
            settings are then those of its scores, and a base with another signature is scored again.

    Raises:
        ValueError: systems with scores were scored with another version of this package; or a base has
            to be scored again, and a text is missing.
    """
    requested, texts = measures or DEFAULT_MEASURES, layout.text_columns
    if not needs_encoder(requested):
        return None
    signatures = {
        name: str(table[SIGNATURE].iloc[0]) for name, table in systems.items() if has_scores(table)
    }
    names = tuple(name for name in systems if name not in signatures)
    base, new = "", ""
    if is_gate and len(systems) == 2:
        base, new = sorted(systems, key=lambda name: name != (baseline or next(iter(systems))))
    leader = new if new in signatures else next(iter(signatures), None)
    record: Mapping[str, Any] = {}
    if leader is not None:
        record = systems[leader].attrs.get("record", {})
    signature = signatures.get(leader or "", "")
    if signatures.get(base, signature) != signature:
        names = (*names, base)
        _check_texts(base, systems[base], layout)
    if not names:
        return None
    is_known = is_record_of_scores(record)
    settings = options_of(record) if is_known else {}
    ours = [name for name in map(measure_of, requested) if name in MEASURES]
    settings["measures"] = tuple(dict.fromkeys((*settings.get("measures", ()), *ours)))
    version = Signature(signature).parts.get("version", __version__)
    is_surely_same = is_known and version == __version__
    if leader == base and not is_surely_same and not any(text_problems(systems[base], texts)):
        names, signature, version = (*names, base), "", __version__
    scoring = Scoring(
        names=names,
        settings=settings,
        layout=layout,
        asked={*asked, *requested, *texts},
        leader=leader,
        signature=signature,
        command=shlex.join(["estime", "score", *record.get("inputs", [str(leader)]), "-o", "FILE"]),
    )
    if version != __version__:
        raise scoring.refused(f"they have version {version}, and this is {__version__}")
    return scoring


def _check_texts(name: str, table: DataFrame, layout: Layout) -> None:
    """Raises ValueError unless each row has two texts, with which it can be scored again."""
    problems = text_problems(table, layout.text_columns)
    for line, problem in zip(table.index, problems, strict=True):
        if problem:
            raise ValueError(
                f"Expected {name} to have the signature of the others, or texts that can be scored again, "
                f"but it has {table[SIGNATURE].iloc[0]}, and line {line}: {problem}."
            )
