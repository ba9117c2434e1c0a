"""The three ways to load the metric give the same thing, with and without network, from any folder;
one encoder.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from estime_metric import EstimeScorer, estime
from estime_metric.engine.encoder import masked as encoder_module
from tests.command import run_command, run_python
from tests.families import save_encoder
from tests.integrations.conftest import Pairs
from tests.integrations.evaluate.conftest import SCRIPT
from tests.local_hub import COMMIT

evaluate = pytest.importorskip("evaluate")

from estime_metric.integrations.evaluate import SCRIPT as REGISTERED  # noqa: E402
from estime_metric.integrations.evaluate import Estime, register  # noqa: E402

pytestmark = pytest.mark.usefixtures("evaluate_home")

#: In a fresh process: imports without network, loads from a Hub and by name, scores, and does so again
#: when the Hub is gone. Prints what each metric says, and what the Hub was asked for.
LOADER = """
    import json, os, socket, sys, warnings
    from pathlib import Path
    from tests.local_hub import LocalHub, serve

    warnings.simplefilter("error")
    encoder, space, summary, source = sys.argv[1:]
    hub = LocalHub({"someone/small-bert": Path(encoder)}, {"someone/estime": Path(space)})

    def load_and_score(name, model):
        metric = evaluate.load(name, model=model)
        scores = metric.compute(predictions=[summary], sources=[source])
        metric.unload()
        return [type(metric).__module__, scores["alarms_scores"], scores["signature"]]

    with serve(hub):
        os.environ["HF_ENDPOINT"] = hub.url
        connect, resolve = socket.socket.connect, socket.getaddrinfo
        socket.socket.connect = socket.getaddrinfo = None
        import evaluate
        import estime_metric.integrations.evaluate
        socket.socket.connect, socket.getaddrinfo = connect, resolve
        metrics = ("someone/estime", "someone/small-bert"), ("estime", encoder)
        online = [load_and_score(*metric) for metric in metrics]
    import huggingface_hub
    huggingface_hub.constants.HF_HUB_OFFLINE = True
    offline = [load_and_score(*metric) for metric in metrics]
    print(json.dumps([online, offline, hub.requests]))
"""


def test_the_registered_script_is_that_of_the_space_and_says_what_to_install() -> None:
    assert SCRIPT.read_text(encoding="utf-8") == REGISTERED
    imports = evaluate.loading.get_imports(
        str(SCRIPT)
    )  # which `evaluate` names if the package is missing
    assert imports == [("library", "estime_metric", "estime-metric[evaluate]", None)]


@pytest.mark.slow
def test_register_on_the_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    script = register()
    assert str(script) in run_command("register").stdout
    for offline in (True, False):  # or the Hub does not answer
        monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", offline)
        assert type(evaluate.load("estime", model="embedded")) is Estime
    (tmp_path / "file").touch()
    monkeypatch.setattr(
        evaluate.config, "HF_MODULES_CACHE", tmp_path / "file"
    )  # where nothing can be written
    assert "error:" in run_command("register", status=2).output


def test_jobs_that_register_at_the_same_time_see_whole_scripts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # `register` adds the cache to it
    with ThreadPoolExecutor(4) as jobs:
        scripts = jobs.map(lambda _: register().read_text(encoding="utf-8"), range(100))
        assert {*scripts} == {REGISTERED}


@pytest.mark.slow
def test_load_from_a_hub_and_by_name_in_another_process(
    bert_folder: str, pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    with monkeypatch.context() as patch:
        patch.setattr(evaluate.config, "HF_MODULES_CACHE", home / "modules")
        register()
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("HF_", "TRANSFORMERS_"))]:
        monkeypatch.delenv(name)
    environment = {
        "HF_HOME": str(home),
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "PYTHONPATH": str(SCRIPT.parents[1]),
    }
    shown = run_python(LOADER, bert_folder, SCRIPT.parent, *pairs[3], **environment).stdout
    online, offline, requests = json.loads(shown)
    answered = {path for _, path, status in requests if status == 200}
    assert "/spaces/someone/estime/resolve/main/estime.py" in answered
    assert offline == online  # from the caches
    expected = estime([pairs[3][0]], [pairs[3][1]], model=bert_folder)
    from_hub, by_name = (signature for _, _, signature in online)
    assert f"|model:someone/small-bert@{COMMIT}|" in from_hub
    assert by_name == expected.signature
    for module, alarms, _ in online:
        assert module == "estime_metric.integrations.evaluate"
        assert alarms == expected.values("alarms").tolist()


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
    for _ in range(20):
        metric = evaluate.load(str(SCRIPT), model=model, cache=None)
        expected = metric.compute(**few, measures="winners")
    assert loads == [model]
    encoder = weakref.ref(EstimeScorer(model=model).encoder)
    assert encoder() is not None
    metric.unload()
    gc.collect()
    assert encoder() is None
    assert metric.compute(**few, measures="winners") == expected
    assert loads == [model] * 2
