"""Systems, some of them with texts alone -> their comparison. A file without scores is scored first, with the
settings of the systems that have scores, and the scores are written to a file beside it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from estime_metric._version import __version__
from estime_metric.compare.differences import Comparison, compare_systems
from estime_metric.compare.examples import examples_of, text_problems
from estime_metric.compare.gate import check_gate
from estime_metric.compare.request import Gate, Request
from estime_metric.config import EstimeConfig
from estime_metric.config_file import is_record_of_scores, options_of
from estime_metric.jobs import Job, NotResumableError, Report, score_files
from estime_metric.measures import MEASURES, measure_of
from estime_metric.signature import Signature
from estime_metric.table.formats import WRITABLE
from estime_metric.table.output import check_writable
from estime_metric.table.pairs import is_stream
from estime_metric.table.rows import Layout
from estime_metric.table.scores import Scores
from estime_metric.table.table import FILE, LINE, SIGNATURE, SOURCE_ID, measure_columns

if TYPE_CHECKING:
    from pandas import DataFrame

    from estime_metric.scorer import EstimeScorer

_CACHE = 1 << 30  # bytes of sources that are kept from one system to the next

#: How the name of the file with the scores ends, which is beside the file that was scored, and the prefix of its
#: columns.
ENDING, PREFIX = ".scores.jsonl", "estime_"


def compare(
    systems: Mapping[str, Scores],
    request: Request,
    *,
    gate: Gate | None = None,
    overwrite: bool = False,
    progress: bool = True,
    on_scoring: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Compares systems. If a requested measure needs an encoder, the files of those without scores are scored
    first, and resumably: if an earlier run has scored a file, its scores are completed and used.

    Args:
        systems: two or more.
        request: what is compared.
        gate: whether and how the second of two systems (the one that is not the baseline) is judged. The
            settings are then those of its scores, and a base with another signature is scored again.
        overwrite: whether scores that cannot be completed, because settings or texts have changed, are replaced.
        progress: whether a progress bar is shown.
        on_scoring: is called with a sentence for each file that is scored.

    Raises:
        ValueError: before anything is scored, as `compare_scores`, and `check_gate` for a gate; systems
            with scores were scored with another version of this package, or their settings cannot be
            used on this machine; a base has to be scored again, and a text is missing; or what has to be
            scored can be read only once.
        NotResumableError: an earlier run has scored a file with other settings, or its texts have changed since.
        OSError: its folder cannot be written to.
    """
    scoring = _plan(systems, request, is_gate=gate is not None) if request.needs_encoder else None
    if scoring is None:
        return compare_systems(systems, request)
    config = scoring.config
    columns = measure_columns(config.reported_measures, config.layer_tuple or (0,))
    bare = {name: _without_scores(name, systems[name], request, columns) for name in scoring.names}
    scored = {**systems, **bare}
    # Fails now, not after hours.
    examples = examples_of(scored, request, computed=dict.fromkeys(bare, columns))
    if gate is not None:
        check_gate(examples, gate)
    jobs = {
        name: _job(name, scores, systems.values(), request.layout) for name, scores in bare.items()
    }
    scorer = scoring.loaded()
    tables: dict[Job, DataFrame] = {}  # one file can have several systems
    for name, job in jobs.items():
        if job not in tables:
            on_scoring(f"Scores of {job.inputs[0]}: {job.file}")
            report = _report(job, scorer, overwrite=overwrite, progress=progress)
            numbers = report.scores.frame.set_index(LINE).drop(columns=FILE)
            tables[job] = numbers.assign(**{SIGNATURE: report.config.signature()})
        scored[name] = replace(scored[name], frame=scored[name].frame.join(tables[job]))
    return compare_systems(scored, request)


def _job(name: str, scores: Scores, systems: Iterable[Scores], layout: Layout) -> Job:
    """The job that scores the file of a system. ValueError if there is no file that can be read again."""
    path = scores.path
    if path is None or is_stream(path):
        raise ValueError(
            f"Expected {name} to have scores or to be a file, because it has to be scored, but it can be read "
            "only once. Use 'estime score' first."
        )
    output = path.with_name(path.name + ENDING)
    read_files = [system.path for system in systems if system.path is not None]
    check_writable(output, read_files, endings=WRITABLE)
    return Job(inputs=(path,), layout=layout, output=output, prefix=PREFIX)


def _report(job: Job, scorer: EstimeScorer, *, overwrite: bool, progress: bool) -> Report:
    try:
        return score_files(job, scorer, existing="resume", progress=progress)
    except NotResumableError as error:
        if not overwrite:
            error.add_note(f"The earlier run has written {job.file}.")
            raise
        return score_files(job, scorer, existing="overwrite", progress=progress)


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """What has to be scored before systems can be compared, and how.

    Attributes:
        names: the systems that are scored.
        config: how they are scored.
        leader: the system whose settings these are; empty for the defaults.
        signature: that of the leader's scores, which all others must have; empty for the defaults.
        command: what scores the leader again.
    """

    names: tuple[str, ...]
    config: EstimeConfig
    leader: str
    signature: str
    command: str

    def loaded(self) -> EstimeScorer:
        """The scorer, with its encoder. ValueError if texts cannot be scored with the settings of the
        leader on this machine.
        """
        from estime_metric.scorer import EstimeScorer  # imports torch: slow

        try:
            scorer = EstimeScorer(self.config, cache=_CACHE if len(self.names) > 1 else None)
            scorer.load()
        except (TypeError, ValueError, OSError, ImportError) as error:
            if not self.leader:
                raise
            raise self.refused(str(error).rstrip(".")) from error
        if self.signature and scorer.signature != self.signature:
            raise self.refused(f"their signature would be {scorer.signature}")
        return scorer

    def refused(self, reason: str) -> ValueError:
        """The error if scores cannot be those of the leader."""
        return ValueError(
            f"Expected {' and '.join(self.names)} to have scores, because they cannot be scored with the "
            f"settings of {self.leader} here: {reason}. Score {self.leader} again: {self.command}"
        )


def _plan(systems: Mapping[str, Scores], request: Request, *, is_gate: bool) -> Scoring | None:
    """What has to be scored; ``None`` if nothing."""
    signatures = {name: scores.signature for name, scores in systems.items() if scores.is_scored}
    names = tuple(name for name in systems if name not in signatures)
    base, new = "", ""
    if is_gate and len(systems) == 2:
        base, new = sorted(
            systems, key=lambda name: name != (request.baseline or next(iter(systems)))
        )
    leader = new if new in signatures else next(iter(signatures), "")
    record = systems[leader].record if leader else {}
    signature = signatures.get(leader, "")
    if signatures.get(base, signature) != signature:
        names = (*names, base)
        if problem := _text_problem(systems[base].frame, request.layout):
            raise ValueError(
                f"Expected {base} to have the signature of the others, or texts that can be scored again, "
                f"but it has {signatures[base]}, and {problem}."
            )
    if not names:
        return None
    is_known = is_record_of_scores(record)
    settings = options_of(record) if is_known else {}
    ours = [name for name in map(measure_of, request.columns) if name in MEASURES]
    settings["measures"] = tuple(dict.fromkeys((*settings.get("measures", ()), *ours)))
    version = Signature(signature).parts.get("version", __version__)
    is_surely_same = is_known and version == __version__
    is_doubtful = leader and leader == base and not is_surely_same
    if is_doubtful and not _text_problem(systems[base].frame, request.layout):
        names, signature, version = (*names, base), "", __version__
    scoring = Scoring(
        names=names,
        config=EstimeConfig.from_options(None, settings),
        leader=leader,
        signature=signature,
        command=shlex.join(["estime", "score", *record.get("inputs", [leader]), "-o", "FILE"]),
    )
    if version != __version__:
        raise scoring.refused(f"they have version {version}, and this is {__version__}")
    return scoring


def _text_problem(table: DataFrame, layout: Layout) -> str:
    """Why a table cannot be scored: what is wrong with its first row without two texts; empty if all have
    them.
    """
    problems = text_problems(table, layout.text_columns)
    return next((f"line {line}: {text}" for line, text in problems.items() if text), "")


def _without_scores(
    name: str, scores: Scores, request: Request, columns: Collection[str]
) -> Scores:
    """A table without the columns that are computed. ValueError if the user names one of them that is not
    ESTIME's.
    """
    computed = [
        column
        for column in scores.frame
        if column in (SOURCE_ID, SIGNATURE) or measure_of(str(column)) in MEASURES
    ]
    named = {*request.named_columns, *request.columns, *request.layout.text_columns}
    for column in [] if scores.is_scored else computed:
        if column in named or (column in columns and measure_of(column) in named):
            raise ValueError(
                f"Expected {column!r} to be computed for {name}, but {name} has a column of yours with "
                "this name. Rename it. If 'estime score' wrote it, the file needs its .meta.json."
            )
    return replace(scores, frame=scores.frame.drop(columns=computed))
