"""Ray Data: the page's lines on a local cluster of two nodes, of which the one that scores is killed
in the middle, give what one process gives.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pandas
import pyarrow
import pyarrow.parquet
import pytest

pytest.importorskip("ray")

import ray
import ray.data
from ray.cluster_utils import Cluster

from estime_metric import EstimeScorer
from tests.integrations.conftest import Pairs
from tests.pages import ROOT, blocks

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

MEMORY = 100_000_000


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A head, and two nodes that do all the work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # else they starve while other tests run
        patch.setenv("RAY_health_check_period_ms", "500")  # finds a dead node within seconds
        patch.setenv("RAY_health_check_failure_threshold", "3")
        patch.setenv("RAY_DATA_PARQUET_FOOTER_NUM_ACTORS", "1")  # 32, each of which is a process
        cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 0,
                "object_store_memory": MEMORY,
                "include_dashboard": False,
            },
        )
        ray.init(address=cluster.address, log_to_driver=False)
        for _ in range(2):
            cluster.add_node(num_cpus=2, object_store_memory=MEMORY)
        cluster.wait_for_nodes()
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.target_max_block_size = (
            4_000  # bytes: several blocks, so that a node can die between them
        )
        context.default_hash_shuffle_parallelism = 8  # 200 blocks, of which most would be empty
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.slow
def test_the_lines_of_the_page_while_a_node_dies(
    cluster: Cluster, pairs: Pairs, tmp_path: Path
) -> None:
    (lines,) = (
        block.code
        for block in blocks(ROOT / "docs" / "command-line.md")
        if "BatchScorer" in block.code
    )
    rows = [
        {"id": number, "article": source, "highlights": f"{summary} {number}"}
        for number, (summary, source) in enumerate((pairs * 8)[:120])
    ]
    (tmp_path / "pairs").mkdir()
    for part in range(12):
        table = pyarrow.Table.from_pylist(rows[part::12])
        pyarrow.parquet.write_table(table, tmp_path / "pairs" / f"{part}.parquet")
    finished, killed = threading.Event(), threading.Event()

    def kill() -> None:
        """The node of an actor that scores, when the first file is written."""
        while not finished.wait(0.01):
            if any((tmp_path / "scores").glob("*.parquet")):
                actors = ray._private.state.actors().values()
                scoring = {
                    actor["Address"]["NodeID"] for actor in actors if actor["State"] == "ALIVE"
                }
                node = next(node for node in cluster.worker_nodes if node.node_id in scoring)
                cluster.remove_node(node, allow_graceful=False)
                killed.set()
                return

    killer = threading.Thread(target=kill)
    killer.start()
    lines = lines.replace("/data", str(tmp_path)).replace("batch_size=64", "batch_size=10")
    exec(compile(lines, "docs/command-line.md", "exec"), {})
    assert killed.is_set()
    finished.set()
    killer.join()
    scores = pyarrow.parquet.read_table(tmp_path / "scores").to_pylist()
    scores.sort(key=lambda row: row["id"])
    assert [row["id"] for row in scores] == list(range(120))  # each once
    columns = pandas.DataFrame(rows).rename(columns={"article": "source", "highlights": "summary"})
    expected = EstimeScorer().map_batch(columns)
    assert list(scores[0]) == ["id", "article", "highlights", *expected]
    for name, values in expected.items():  # rounding differs in batches of other sizes
        logged = [row[name] for row in scores]
        assert logged == pytest.approx(values, rel=1e-5, abs=1e-5, nan_ok=True), name
