"""The whole experiment on a small random encoder: every number against the module it comes from, tables and figures."""

from __future__ import annotations

import numpy as np
import pytest

from estime_metric import EstimeScorer
from estime_metric.measures import FURTHER_MEASURES, HIGHER_IS_BETTER
from estime_metric.studies.subtle_errors import SubtleErrors
from estime_metric.studies.subtle_errors.compared import reference_free
from estime_metric.studies.subtle_errors.plots import plot_positions, plot_rise
from estime_metric.studies.subtle_errors.report import tables
from estime_metric.studies.subtle_errors.study import Study, run
from estime_metric.tables import to_csv, to_latex, to_markdown
from tests.families import SENTENCES

SOURCES = [" ".join(SENTENCES[start : start + 4]) for start in range(6)]
SUMMARIES = [*SENTENCES[:5], "the bridge."]  # the last one has two whole words
SHORT = {"window": 60, "margin": 10, "layers": (2, 3)}


@pytest.fixture(scope="module")
def scorer(bert_folder: str) -> EstimeScorer:
    return EstimeScorer(model=bert_folder, measures=FURTHER_MEASURES, **SHORT)


@pytest.fixture(scope="module")
def study(bert_folder: str, scorer: EstimeScorer) -> Study:
    corrupt = SubtleErrors(bert_folder, n_errors=4)
    return run(SOURCES, SUMMARIES, corrupt, scorer, numbers=(1, 2, 4), baselines=reference_free, resamples=50)


def test_scores_are_the_scorers(study: Study, scorer: EstimeScorer) -> None:
    versions = [one.first(number).text for one in study.corrupted for number in (0, 1, 2, 4)]
    repeated = [source for source in SOURCES for _ in range(4)]
    result = scorer.score(versions, repeated)
    for layer in (2, 3):
        for measure, higher in HIGHER_IS_BETTER.items():
            name = f"ESTIME-{layer}" + ("" if measure == "alarms" else f" {measure}")
            values = study.scores[name] if higher else -study.scores[f"(-){name}"]
            np.testing.assert_array_equal(values, result.values(measure, layer).numpy().reshape(6, 4))
    for name, expected in reference_free(versions, repeated).items():
        np.testing.assert_array_equal(study.scores[name], np.reshape(expected, (6, 4)))
    assert next(iter(study.scores)) == "(-)ESTIME-2"


def test_pairs_with_too_few_words_are_left_out_and_said(study: Study) -> None:
    assert [len(study.complete(number)) for number in (1, 2, 4)] == [6, 6, 5]
    assert [rows[0].pairs for rows in study.agreements.values()] == [6, 6, 5]
    assert study.detections[4][0].errors == 20
    notes = tables(study)[0].notes
    assert "1 pair of 6 left out: too few whole words for 4 errors." in notes


def test_rise_and_positions_agree_with_the_scores(study: Study) -> None:
    alarms = -study.scores["(-)ESTIME-2"]
    complete = study.complete(4)
    assert [level.mean.value for level in study.levels["alarms"]] == pytest.approx(alarms[complete].mean(0).tolist())
    for column, number in enumerate((1, 2, 4), start=1):
        assert {one.alarms for one in study.detections[number]} == {alarms[study.complete(number), column].sum()}
        recalls = [one.recall_of_all.value for one in study.detections[number]]
        assert recalls == sorted(recalls)
    rows = {row.measure: row for row in study.agreements[2]}
    assert rows["(-)length"].preferred.value == 0.5  # a word for a word


def test_a_row_is_named_measured_or_printed(study: Study) -> None:
    table_3, rise, precision, recall = tables(study)
    titles = [section.title for section in table_3.sections]
    assert titles[:2] == ["Measured: 1 error, 6 pairs", "Measured: 2 errors, 6 pairs"]
    assert titles[-1].startswith("Printed in the paper, not measured here")
    assert table_3.sections[-1].rows[3] == ("(-)ESTIME-21", 0.163, None, 0.188, *[None] * 6)
    assert study.generator in table_3.notes[-2]
    assert study.scorer in table_3.notes[-1]
    assert [section.title for section in rise.sections] == ["alarms", "alarm rate", "alarms, all tokens"]
    assert [row[0] for row in precision.sections[0].rows] == [row[0] for row in recall.sections[0].rows] == [0, 1, 2, 5]
    for table in (table_3, rise, precision, recall):
        assert to_markdown(table).count("\n") > 5
        assert to_csv(table)
        assert to_latex(table)


def test_figures_show_what_the_tables_say(study: Study) -> None:
    left, right = plot_rise(study).axes
    means = [level.mean.value for level in study.levels["alarms"]]
    assert left.lines[0].get_ydata().tolist() == means
    assert right.lines[0].get_ydata().tolist() == [level.rise.value for level in study.levels["alarms"]]
    axes = plot_positions(study).axes
    assert len(axes) == 6
    assert axes[4].lines[0].get_ydata().tolist() == [one.precision.value for one in study.detections[4]]
    assert axes[5].lines[0].get_ydata().tolist() == [one.recall.value for one in study.detections[4]]


def test_no_pairs_are_no_error(bert_folder: str, scorer: EstimeScorer) -> None:
    study = run([], [], SubtleErrors(bert_folder, n_errors=1), scorer, numbers=(1,), resamples=5)
    assert study.corrupted == []
    assert study.agreements[1][0].pairs == 0
    assert [to_markdown(table) for table in tables(study)]


def test_bad_arguments_are_refused_by_name(bert_folder: str, scorer: EstimeScorer) -> None:
    corrupt = SubtleErrors(bert_folder, n_errors=3)
    for numbers in ((), (3, 1), (1, 1, 3), (0, 3), (1, 2)):
        with pytest.raises(ValueError, match="`numbers` to ascend from at least 1 to the 3 errors"):
            run(SOURCES, SUMMARIES, corrupt, scorer, numbers=numbers)
    with pytest.raises(ValueError, match="`scorer` to compute 'alarms_alltokens', but it does not"):
        run(SOURCES, SUMMARIES, corrupt, EstimeScorer(model=bert_folder), numbers=(3,))
    with pytest.raises(ValueError, match="`sources` and `summaries` to be of one length"):
        run(SOURCES[:1], SUMMARIES, corrupt, scorer, numbers=(3,))


def test_every_estimate_lies_within_its_own_interval(study: Study) -> None:
    rows = [row for found in study.agreements.values() for row in found]
    estimates = [getattr(row, name) for row in rows for name in ("spearman", "kendall_c", "behind", "auc", "preferred")]
    levels = [level for of_measure in study.levels.values() for level in of_measure]
    estimates += [getattr(level, name) for level in levels for name in ("mean", "rise")]
    known = [one for one in estimates if not np.isnan(one.value)]
    assert len(known) > 50
    assert all(one.low <= one.value <= one.high for one in known)
