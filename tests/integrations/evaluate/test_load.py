"""The three ways to load the metric give the same thing, with and without network, from any folder;
one encoder.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer, estime
from estime_metric.engine.encoder import masked as encoder_module
from tests.command import run_command
from tests.families import save_encoder
from tests.integrations.evaluate.conftest import NOWHERE, SCRIPT
from tests.local_hub import COMMIT, LocalHub, serve

evaluate = pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import SCRIPT as REGISTERED  # noqa: E402
from estime_metric.integrations.evaluate import Estime, register, unregister  # noqa: E402

pytestmark = pytest.mark.usefixtures("evaluate_home")
#: Imports without network, then loads by name in a fresh process, scores, and says what it got.
LOADER = """
import json, socket, sys, warnings
warnings.simplefilter("error")
connect, resolve = socket.socket.connect, socket.getaddrinfo
socket.socket.connect = socket.getaddrinfo = None
import evaluate
import estime_metric.integrations.evaluate
from estime_metric.engine.encoder import store
assert not store.STORE._held
socket.socket.connect, socket.getaddrinfo = connect, resolve
summary, source, *names = sys.argv[1:]
for name, model in zip(names[::2], names[1::2]):
    metric = evaluate.load(name, model=model)
    scores = metric.compute(predictions=[summary], sources=[source])
    print(json.dumps({"class": type(metric).__module__, "alarms": scores["alarms_scores"], "signature": scores["signature"]}))
"""


def load_elsewhere(
    names: list[tuple[str, str]], pair: tuple[str, str], folder: Path, **environment: str
) -> list[dict[str, Any]]:
    """What `LOADER` prints of metrics and encoders in a fresh process that starts in an empty
    folder with its caches in ``folder``."""
    start = folder / "start"
    start.mkdir(exist_ok=True)
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("HF_", "TRANSFORMERS_"))
    }
    settings = {
        "HF_HOME": str(folder / "home"),
        "PYTHONPATH": str(SCRIPT.parents[1]),
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    }
    command = [sys.executable, "-c", LOADER, *pair, *(part for name in names for part in name)]
    env = {**kept, **settings, **environment}
    run = subprocess.run(command, cwd=start, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_the_registered_script_is_that_of_the_space_and_says_what_to_install() -> None:
    assert SCRIPT.read_text(encoding="utf-8") == REGISTERED
    imports = evaluate.loading.get_imports(
        str(SCRIPT)
    )  # which `evaluate` names if the package is missing
    assert imports == [("library", "estime_metric", "estime-metric[evaluate]", None)]


@pytest.mark.parametrize("path", [str(SCRIPT), os.path.relpath(SCRIPT)])
def test_load_by_path(path: str) -> None:
    assert type(evaluate.load(path, model="embedded")) is Estime


@pytest.mark.slow
@pytest.mark.parametrize("offline", [True, False])
def test_register_and_remove(
    offline: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", offline)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        evaluate.load("estime")
    assert register() == register()
    assert type(evaluate.load("estime", model="embedded")) is Estime
    assert unregister()
    assert unregister() == []
    with pytest.raises(FileNotFoundError):
        evaluate.load("estime")


def test_register_leaves_the_scripts_of_others() -> None:
    other = register().parents[1] / ("0" * 64) / "estime.py"
    other.parent.mkdir()
    other.write_text("import evaluate\n", encoding="utf-8")
    neighbor = other.parents[2] / "evaluate-metric--rouge"
    neighbor.mkdir()
    unregister()
    assert other.is_file()
    assert neighbor.is_dir()
    other.unlink()
    neighbor.rmdir()


def test_register_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = run_command("register").stdout.splitlines()[0]
    script = Path(said.removeprefix("wrote the module script to "))
    assert script.read_text(encoding="utf-8") == REGISTERED
    assert f"removed {script}" in run_command("register", "--remove").output
    assert not script.exists()
    assert "nothing to remove" in run_command("register", "--remove").output
    (tmp_path / "file").touch()
    monkeypatch.setattr(
        evaluate.config, "HF_MODULES_CACHE", tmp_path / "file"
    )  # where nothing can be written
    assert "error:" in run_command("register", status=2).output


@pytest.mark.slow
def test_load_from_a_hub_and_by_name_in_other_processes(
    bert_folder: str, pairs: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "home" / "modules")
        register()
    hub = LocalHub(
        models={"someone/small-bert": Path(bert_folder)}, spaces={"someone/estime": SCRIPT.parent}
    )
    there, here = ("someone/estime", "someone/small-bert"), ("estime", bert_folder)
    with serve(hub):
        loaded, online = load_elsewhere([there, here], pairs[3], tmp_path, HF_ENDPOINT=hub.url)
    assert f"|model:someone/small-bert@{COMMIT}|" in loaded["signature"]
    answered = {path for _, path, status in hub.requests if status == 200}
    assert "/spaces/someone/estime/resolve/main/estime.py" in answered
    assert {path.rsplit("/", 1)[-1] for path in answered} >= {
        "config.json",
        "tokenizer.json",
        "model.safetensors",
    }
    # Both are in the caches now.
    again, offline = load_elsewhere(
        [there, here], pairs[3], tmp_path, HF_ENDPOINT=NOWHERE, HF_HUB_OFFLINE="1"
    )
    assert again == loaded
    assert offline == online
    expected = estime([pairs[3][0]], [pairs[3][1]], model=bert_folder)
    for found in (loaded, online):
        assert found["class"].startswith("estime_metric.integrations.evaluate.")
        assert found["alarms"] == expected.values("alarms").tolist()


def test_one_encoder_however_often_the_metric_is_loaded_and_none_after_unload(
    texts: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_encoder(tmp_path, "bert", seed=3)  # no other test keeps it in memory
    model, loads = str(tmp_path), []
    load_commit = encoder_module.load_commit

    def counted(model: str, *arguments: Any) -> Any:
        loads.append(model)
        return load_commit(model, *arguments)

    monkeypatch.setattr(encoder_module, "load_commit", counted)
    few = {name: column[:2] for name, column in texts.items()}
    statm, memory = (
        Path("/proc/self/statm"),
        [],
    )  # where Linux says how many pages of memory a process has
    for _ in range(20):
        metric = evaluate.load(str(SCRIPT), model=model, cache=None)
        expected = metric.compute(**few, measures="winners")
        memory.append(int(statm.read_text(encoding="ascii").split()[1]) if statm.exists() else 0)
    assert loads == [model]
    assert memory[-1] - memory[4] < 2_500  # pages: 10 MB
    encoder = weakref.ref(EstimeScorer(model=model).encoder)
    assert encoder() is not None
    metric.unload()
    gc.collect()
    assert encoder() is None
    assert metric.compute(**few, measures="winners") == expected
    assert loads == [model] * 2
