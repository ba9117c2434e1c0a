"""Ray: a local cluster of two nodes, one of which is killed in the middle, gives what one process
gives; errors.
"""

from __future__ import annotations

import math
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import ray
import ray.data
from ray.cluster_utils import Cluster

from estime_metric import EstimeConfig, EstimeScorer
from estime_metric.integrations.ray import RayTeam, _BlockScorer, score_dataset
from tests.command import run_command, write_jsonl
from tests.jobs.conftest import QUICK, rows

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

MEMORY = 100_000_000


def test_a_cluster_that_does_not_answer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First, while this process is connected to none: immediately; Ray itself would ask for more
    than a minute.
    """
    table, out = write_jsonl(tmp_path / "pairs.jsonl", rows(2)), tmp_path / "out.csv"
    with socket.socket() as taken:  # but nobody listens
        taken.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run_command(
            "score", table, "-o", out, "--ray", nobody, "-m", "embedded-small", status=2
        )
        assert f"Expected a Ray cluster at {nobody}, but nothing answers there" in done.stderr
        assert not out.exists()
        monkeypatch.setenv("RAY_ADDRESS", f"ray://{nobody}")
        with pytest.raises(ConnectionError, match=f"cluster at {nobody}, but nothing answers"):
            RayTeam()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # else they starve while other tests run
        patch.setenv("RAY_health_check_period_ms", "500")  # finds a dead node within seconds
        patch.setenv("RAY_health_check_failure_threshold", "3")
        cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 2,
                "object_store_memory": MEMORY,
                "include_dashboard": False,
            },
        )
        ray.init(address=cluster.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture
def second(cluster: Cluster) -> Any:
    """A second node, which the test kills."""
    node = cluster.add_node(num_cpus=2, object_store_memory=MEMORY)
    cluster.wait_for_nodes()
    return node


def nodes_of_actors() -> set[str]:
    return {
        actor["Address"]["NodeID"]
        for actor in ray._private.state.actors().values()
        if actor["State"] == "ALIVE"
    }


@pytest.mark.slow
def test_a_data_set_scored_while_a_node_dies(cluster: Cluster, second: Any) -> None:
    scorer = EstimeScorer(
        model="embedded-small", layers=1, distance=2, window=60, margin=10
    )  # quick, as `QUICK` is
    table = [*rows(1200), {"id": -1, "source": "A cat.", "summary": None, "note": ""}]
    whole = {name: [row[name] for row in table[:-1]] for name in ("source", "summary")}
    expected = scorer.map_batch(whole)
    scored = score_dataset(
        ray.data.from_items(table, override_num_blocks=24),
        scorer.config,
        num_cpus=0.5,
        concurrency=2,
        look_ahead=8,
    )
    found: list[dict[str, Any]] = []
    before: list[int] = []  # rows that were there when the node died
    for batch in scored.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
        if not before and second.node_id in nodes_of_actors():
            cluster.remove_node(second, allow_graceful=False)
            before.append(len(found))
        found += batch.to_pylist()
    assert before
    assert before[0] < 1000
    assert list(found[0]) == ["id", "source", "summary", "note", *expected]
    found.sort(key=lambda row: row["id"])
    assert [row["id"] for row in found] == list(range(1200))  # each once, and none that is invalid
    for name, values in expected.items():
        assert [row[name] for row in found] == pytest.approx(
            values,
            rel=1e-5,
            abs=1e-5,
            nan_ok=True,  # rounding, in batches of other sizes
        ), name


@pytest.mark.slow
def test_the_command_writes_the_file_of_one_process_while_a_node_dies(
    cluster: Cluster, second: Any, tmp_path: Path
) -> None:
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(1500))
    with table.open("a") as stream:
        stream.write("{bad\n")
    alone, together = tmp_path / "alone.csv", tmp_path / "together.csv"
    run_command("score", table, "-o", alone, *QUICK, status=1)
    written: list[int] = []
    finished = threading.Event()

    def kill() -> None:
        while not finished.wait(0.01):
            size = together.stat().st_size if together.exists() else 0
            if size and second.node_id in nodes_of_actors():
                written.append(size)
                cluster.remove_node(second, allow_graceful=False)
                return

    killer = threading.Thread(target=kill)
    killer.start()
    done = run_command("score", table, "-o", together, *QUICK, "--ray", "--ray-cpus", "2", status=1)
    finished.set()
    killer.join()
    assert written
    assert written[0] < alone.stat().st_size  # the job was not done yet
    assert together.read_bytes() == alone.read_bytes()
    assert "1500 pairs scored, 1 row skipped" in done.stdout


@pytest.mark.slow
def test_an_error_is_raised_as_by_one_process(cluster: Cluster) -> None:
    def score(chunk: int) -> int:
        if chunk == 3:
            raise ValueError("no such layer")
        return 2 * chunk

    team = RayTeam(num_cpus=0.5)
    assert list(team.run(iter((1, 2, 4)), score, lambda: False)) == [(1, 2), (2, 4), (4, 8)]
    with pytest.raises(ValueError, match=r"^no such layer$"):
        list(team.run(iter((1, 2, 3, 4)), score, lambda: False))
    assert list(team.run(iter((1, 2)), score, lambda: True)) == []
    team.close()
    assert ray.is_initialized()  # it has not connected, so it does not leave


@pytest.fixture(scope="module")
def block_scorer() -> _BlockScorer:
    return _BlockScorer(
        EstimeConfig(model="embedded-small", window=60, margin=10), "article", "text", "estime_", 2
    )


def test_a_block_is_scored_in_chunks_that_divide_no_source(block_scorer: _BlockScorer) -> None:
    articles = ["The cat sat.", "The cat sat.", "The cat sat.", "A dog ran.", None, "A dog ran."]
    table = pyarrow.table(
        {"article": articles, "text": ["The cat.", "", "A cat.", "A dog.", "A dog.", "ran"]}
    )
    parts = list(block_scorer(table.append_column("n", [range(6)])))
    assert [part.column("n").to_pylist() for part in parts] == [[0, 1, 2], [3, 5]]
    empty = parts[0].slice(1, 1).to_pylist()[0]
    assert empty["estime_alarms"] == 0
    assert math.isnan(empty["estime_alarm_rate"])
    nothing = list(block_scorer(table.slice(0, 0)))
    assert [part.schema.names for part in nothing] == [
        [name for name in parts[0].schema.names if name != "n"]
    ]


def test_what_a_data_set_lacks_or_has_already_is_named(block_scorer: _BlockScorer) -> None:
    table = pyarrow.table({"article": ["The cat sat."], "text": ["The cat."]})
    with pytest.raises(
        ValueError, match="Expected a column named 'text', but got the columns article"
    ):
        list(block_scorer(table.drop_columns(["text"])))
    with pytest.raises(
        ValueError, match="a column 'estime_alarms', which is also the name of an output column"
    ):
        list(block_scorer(table.append_column("estime_alarms", [[1]])))


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'estime-metric\[ray\]'"):
        score_dataset(None)


def test_ray_goes_neither_with_torchrun_nor_with_a_dry_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_jsonl(tmp_path / "pairs.jsonl", rows(2))
    said = "Expected --ray alone, but got it with torchrun or --dry-run"
    assert said in run_command("score", "--ray", table, "--dry-run", status=2).stderr
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    assert said in run_command("score", "--ray", "10.0.0.1:6379", table, status=2).stderr
