"""The experiment's tables, for `estime_metric.tables`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from estime_metric.studies.subtle_errors.agreement import PAPER_TABLE_3, Agreement
from estime_metric.studies.subtle_errors.estimates import Estimate
from estime_metric.studies.subtle_errors.sensitivity import Level, rises
from estime_metric.studies.subtle_errors.study import Study
from estime_metric.tables import EMPTY, Cell, Column, Section, Table, interval

#: With fewer pairs an interval would say nothing: a resample of them mostly repeats the same few.
LEAST_PAIRS = 10

#: How measures of alarms are called in tables.
_NAMES = {"alarms": "alarms", "alarm_rate": "alarm rate", "alarms_alltokens": "alarms, all tokens"}


def tables(study: Study) -> list[Table]:
    """All tables of a study: Table 3, the rise of alarms, precision and recall of their positions."""
    return [table_3(study), rise_table(study), precision_table(study), recall_table(study)]


def table_3(study: Study) -> Table:
    """Correlations of every measure with clean = 1 and corrupted = 0, beside the paper's as printed."""
    columns = (
        Column("measure", text=True),
        Column("ρ"),
        Column("95%", text=True),
        Column("τ-c"),
        Column("ρ behind the first"),
        Column("95%", text=True),
        Column("AUC"),
        Column("95%", text=True),
        Column("clean preferred"),
        Column("p", decimals=4),
    )
    sections = [
        Section(f"Measured: {_count(number, 'error')}, {_count(rows[0].pairs, 'pair')}", tuple(map(_row, rows)))
        for number, rows in study.agreements.items()
    ]
    printed = tuple((name, rho, None, tau, None, None, None, None, None, None) for name, rho, tau in PAPER_TABLE_3)
    sections.append(Section("Printed in the paper, not measured here: 3 errors, 2000 pairs of CNN/DailyMail", printed))
    notes = (
        "Higher is better; (-): the measure is negated. Behind the first: the first row's ρ "
        "less this one's. Clean preferred: share of the pairs "
        "in which the clean summary scores higher, ties half. p: paired test of the mean difference by approximate "
        "randomization, two-sided.",
        _about_intervals(study),
        *_left_out(study),
        *study.notes,
        f"Errors: {study.generator}",
        f"Scores: {study.scorer}",
    )
    title = "Subtle errors (Table 3 of the paper): correlation with clean = 1, corrupted = 0"
    return Table("subtle-errors-table-3", title, columns, tuple(sections), notes)


def rise_table(study: Study) -> Table:
    """How alarms rise with the number of errors."""
    columns = (
        Column("errors"),
        Column("mean"),
        Column("95%", text=True),
        Column("more than clean"),
        Column("95%", text=True),
        Column("more than the row above"),
        Column("95%", text=True),
        Column("share with more less share with fewer"),
        Column("95%", text=True),
    )
    pairs = len(study.complete(study.numbers[-1]))
    sections = []
    for measure, levels in study.levels.items():
        rows = []
        for index, level in enumerate(levels):
            rise, step, more = (
                (part.value, _interval(part, pairs)) if index else (None, None)
                for part in (level.rise, level.step, level.more_less_fewer)
            )
            rows.append((level.n_errors, level.mean.value, _interval(level.mean, pairs), *rise, *step, *more))
        sections.append(Section(_NAMES[measure], tuple(rows)))
    title = f"Rise with the number of errors, layer {study.layer}, {_count(pairs, 'pair')} that can take all of them"
    notes = tuple(f"{_NAMES[measure]}: {_verdict(levels, pairs)}" for measure, levels in study.levels.items())
    notes = (_about_intervals(study), *notes)
    return Table("subtle-errors-rise", title, columns, tuple(sections), notes)


def precision_table(study: Study) -> Table:
    """Which of the alarms fall on errors and their neighbours."""
    columns = (
        Column("units to each side"),
        Column("precision"),
        Column("95%", text=True),
        Column("by chance"),
        Column("lift"),
        Column("95%", text=True),
    )
    rows = {
        number: [
            (
                one.reach,
                *_lifted(one.precision, one.precision_by_chance, one.precision_lift, len(study.complete(number))),
            )
            for one in detections
        ]
        for number, detections in study.detections.items()
    }
    notes = (
        "Precision: share of the alarms within so many units of an error. By chance: if the alarms of each summary "
        "fell on its checked units at random.",
        _about_intervals(study),
    )
    title = f"Do the alarms of layer {study.layer} fall near the errors? Precision"
    return Table("subtle-errors-precision", title, columns, _by_number(study, rows), notes)


def recall_table(study: Study) -> Table:
    """Which of the errors have alarms on them or their neighbours."""
    columns = (
        Column("units to each side"),
        Column("checkable errors"),
        Column("recall of them"),
        Column("95%", text=True),
        Column("by chance"),
        Column("lift"),
        Column("95%", text=True),
        Column("recall of all"),
        Column("before"),
        Column("gain"),
        Column("95%", text=True),
    )
    rows = {
        number: [
            (
                one.reach,
                one.checkable / one.errors if one.errors else None,
                *_lifted(one.recall, one.recall_by_chance, one.recall_lift, len(study.complete(number))),
                one.recall_of_all.value,
                one.before.value,
                one.gain.value,
                _interval(one.gain, len(study.complete(number))),
            )
            for one in detections
        ]
        for number, detections in study.detections.items()
    }
    notes = (
        "Recall: share of the errors with an alarm within so many units. Checkable errors: the share with a unit there "
        "that occurs in the source, since no other raises alarms. By chance: if the alarms of each summary fell on its "
        "checked units at random. Before: the same positions in the clean summary. Gain: recall of all less before.",
        _about_intervals(study),
    )
    title = f"Do the alarms of layer {study.layer} fall near the errors? Recall"
    return Table("subtle-errors-recall", title, columns, _by_number(study, rows), notes)


def _row(row: Agreement) -> tuple[Cell, ...]:
    return (
        row.measure,
        row.spearman.value,
        _interval(row.spearman, row.pairs),
        row.kendall_c.value,
        row.behind.value,
        _interval(row.behind, row.pairs),
        row.auc.value,
        _interval(row.auc, row.pairs),
        row.preferred.value,
        row.p_value,
    )


def _lifted(share: Estimate, chance: Estimate, lift: Estimate, pairs: int) -> tuple[float, str, float, float, str]:
    return share.value, _interval(share, pairs), chance.value, lift.value, _interval(lift, pairs)


def _by_number(study: Study, rows: Mapping[int, Sequence[tuple[Cell, ...]]]) -> tuple[Section, ...]:
    """A section for each number of errors."""
    sections = []
    for number, detections in study.detections.items():
        errors, alarms = detections[0].errors, detections[0].alarms
        title = f"{_count(number, 'error')} in a summary: {_count(errors, 'error')}, {_count(alarms, 'alarm')}"
        sections.append(Section(title, tuple(rows[number])))
    return tuple(sections)


def _verdict(levels: list[Level], pairs: int) -> str:
    if pairs < LEAST_PAIRS:
        return "too few pairs to say whether it rises."
    if rises(levels):
        return "rises with every step, the whole 95% interval of each above 0."
    return "does not rise with every step beyond doubt: the 95% interval of at least one step reaches 0."


def _left_out(study: Study) -> list[str]:
    pairs = len(study.corrupted)
    return [
        f"{_count(pairs - len(study.complete(number)), 'pair')} of {pairs} left out: too few whole words for "
        f"{_count(number, 'error')}."
        for number in study.numbers
        if len(study.complete(number)) < pairs
    ]


def _interval(part: Estimate, pairs: int) -> str:
    return interval(part.low, part.high, decimals=3) if pairs >= LEAST_PAIRS else EMPTY


def _about_intervals(study: Study) -> str:
    """What 95% means, and where there is none."""
    text = "95%: percentiles of a bootstrap over pairs, widened to the estimate where it lies outside of them."
    if min(len(study.complete(number)) for number in study.numbers) < LEAST_PAIRS:
        text += f" Fewer than {LEAST_PAIRS} pairs have no interval."
    return text


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
