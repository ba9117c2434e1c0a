"""``datasets.Dataset.map`` with a scorer: the cache is found again, with several processes and
streams.
"""

from __future__ import annotations

import json
import os
from unittest import mock

import datasets
import pytest
from datasets.fingerprint import Hasher

from estime_metric import EstimeScorer
from tests.command import run_python
from tests.jobs.conftest import result_of, rows


@pytest.mark.filterwarnings("ignore")
def test_map_adds_the_measures_also_to_a_stream(scorer: EstimeScorer) -> None:
    dataset = datasets.Dataset.from_list(rows(12))
    expected = result_of(scorer, rows(12)).values("alarms").tolist()
    batches = {"batched": True, "batch_size": 5}
    columns = {"source_column": "article", "signature_column": "made_by"}
    named = dataset.rename_column("source", "article").map(
        scorer.map_batch, fn_kwargs=columns, **batches
    )
    for way in (
        named,
        dataset.with_format("arrow").map(scorer.map_batch, **batches).with_format(None),
        dataset.to_iterable_dataset().map(scorer.map_batch, **batches),
    ):
        assert [row["alarms"] for row in way] == expected
    assert set(named["made_by"]) == {scorer.signature}
    with pytest.raises(ValueError, match="Expected a column named 'source'"):
        scorer.map_batch({"text": [], "summary": []})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.slow
def test_map_in_several_processes_after_the_encoder_was_loaded(
    summeval: list[tuple[str, str]],
) -> None:
    """With texts of real lengths: products of short ones are too small for several threads."""
    script = """
        import json, signal, sys, warnings
        import datasets, torch
        from estime_metric import EstimeScorer

        def scored(batch):
            signal.alarm(100)  # ends a child that hangs
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                columns = [scorer.map_batch(batch) for _ in range(2)][-1]
            warned = " ".join(str(warning.message) for warning in caught)
            number = len(batch["source"])
            return {**columns, "warned": [warned] * number, "threads": [torch.get_num_threads()] * number}

        datasets.disable_progress_bars()
        torch.set_num_threads(2)
        data = datasets.Dataset.from_list(json.loads(sys.argv[1]))
        scorer = EstimeScorer(model="embedded-small", layers=1, device="cpu")
        block = torch.nn.TransformerEncoderLayer(512, 8, batch_first=True).eval()
        block(torch.rand(8, 256, 512))  # what others compute counts, too
        # Before the encoder is loaded, in this process, and afterwards.
        tables = [data.map(scored, batched=True, num_proc=number).to_dict() for number in (2, None, 2)]
        assert torch.get_num_threads() == 2
        print(json.dumps(tables))
    """
    pairs = [{"summary": summary, "source": source} for summary, source in summeval[:32:16]]
    before, alone, after = json.loads(run_python(script, json.dumps(pairs)).stdout)
    assert alone["warned"] == [""] * 2
    for forked in (before, after):
        assert forked["alarms"] == alone["alarms"]
        assert forked["threads"] == alone["threads"] == [2] * 2  # what was set is set again
        assert all(warned.count("forked") == 1 for warned in forked["warned"])


def test_the_fingerprint_depends_on_the_configuration_alone(bert_folder: str) -> None:
    options = {"window": 60, "margin": 10, "tagger": str.split, "keep_tags": {"a", "b", "c"}}
    first, second = (EstimeScorer(model=bert_folder, **options) for _ in range(2))
    before = Hasher.hash(first.map_batch)
    first.signature  # loads the encoder  # noqa: B018
    assert Hasher.hash(first.map_batch) == before == Hasher.hash(second.map_batch)
    assert Hasher.hash(EstimeScorer(second.config, distance=4).map_batch) != before


def test_no_column_of_the_dataset_is_overwritten(scorer: EstimeScorer) -> None:
    texts = {"source": ["The cat sat on the mat."], "summary": ["The cat sat."]}
    expected = scorer.map_batch(texts)
    with (
        mock.patch.object(EstimeScorer, "score_checked", side_effect=AssertionError),  # not yet
        pytest.raises(ValueError, match=r"has a column 'tokens', .* with `prefix`"),
    ):
        scorer.map_batch({**texts, "tokens": [[7, 8]]})
    columns = scorer.map_batch({**texts, "tokens": [[7, 8]]}, prefix="estime_")
    assert columns == {f"estime_{name}": values for name, values in expected.items()}
