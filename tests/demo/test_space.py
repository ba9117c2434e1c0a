"""The Space's own folder: the script that it starts, its card, what it installs, and the command
that uploads it.
"""

from __future__ import annotations

import base64
import gc
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import threading
import warnings
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

import pytest

from estime_metric import __version__

ROOT = Path(__file__).resolve().parents[2]
SPACE = ROOT / "hub_space"


@pytest.mark.slow
def test_it_starts_from_its_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    gradio = pytest.importorskip("gradio")
    pages: list[str] = []
    monkeypatch.chdir(SPACE)
    monkeypatch.syspath_prepend(SPACE)
    monkeypatch.setattr(
        gradio.Blocks, "launch", lambda blocks, **_: pages.append(str(blocks.get_config_file()))
    )
    monkeypatch.setattr(gradio.Blocks, "block_thread", lambda _: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Gradio leaves event loops open
        runpy.run_path("app.py", run_name="__main__")
        gc.collect()
    assert "estime-alarm" in pages[0]  # the page opens with an example explained


def test_the_card_names_the_script_and_this_gradio_and_it_installs_this_version() -> None:
    _, header, _ = (SPACE / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in header.splitlines() if re.match(r"\w+: \S", line))
    assert (SPACE / fields["app_file"]).is_file()
    assert fields["sdk"] == "gradio"
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["sdk_version"])
    assert fields["sdk_version"].split(".")[0] == version("gradio").split(".")[0]
    assert re.fullmatch(r'"3\.\d+"', fields["python_version"])
    *_, package = (SPACE / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert package == f"estime-metric[evaluate,demo]=={__version__}"


class Listening(BaseHTTPRequestHandler):
    """Answers what the client asks on the way to a commit, and keeps the commit."""

    requests: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.requests.append((self.path, body))
        url = f"http://{self.headers['Host']}/spaces/someone/estime"
        answer: dict[str, object] = {
            "url": url,
            "commitUrl": f"{url}/commit/{'0' * 40}",
            "commitOid": "0" * 40,
        }
        if "/preupload/" in self.path:
            regular = {"uploadMode": "regular", "shouldIgnore": False}
            answer = {
                "files": [{"path": file["path"], **regular} for file in json.loads(body)["files"]]
            }
        self._answer(answer)

    def do_GET(self) -> None:
        self._answer({"id": "someone/estime", "sha": "0" * 40, "siblings": []})

    def _answer(self, answer: object) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keeps the output of the tests clean."""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the command is a script for bash")
@pytest.mark.parametrize("wheel", [False, True])
def test_the_whole_folder_is_committed_to_the_space(tmp_path: Path, wheel: bool) -> None:
    """With the real client, to a Hub that only listens; from a copy of the repository without
    weights.
    """
    for name in (".ci", "hub_space", "estime_metric"):
        shutil.copytree(
            ROOT / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns("*.safetensors", "__pycache__"),
        )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tmp_path)
    requests: list[tuple[str, bytes]] = []
    handler = type("Handler", (Listening,), {"requests": requests})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("HF_")
        }
        environment |= {
            "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
            "HF_TOKEN": "hf_of_nobody",
        }
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment |= {
            "HF_HOME": str(tmp_path / "home"),
            "PATH": path,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        if (
            int(version("setuptools").split(".")[0]) >= 77
        ):  # what pyproject.toml asks for: pip need not install it anew
            environment["PIP_NO_BUILD_ISOLATION"] = "false"
        done = subprocess.run(
            ["bash", tmp_path / ".ci" / "space", *["--wheel"] * wheel, "someone/estime"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        server.shutdown()
    assert done.returncode == 0, done.stderr
    made, *_ = [json.loads(body) for path, body in requests if path == "/api/repos/create"]
    assert (made["name"], made["type"], made["sdk"]) == ("estime", "space", "gradio")
    [commit] = [body for path, body in requests if path == "/api/spaces/someone/estime/commit/main"]
    lines = [json.loads(line) for line in commit.splitlines()]
    assert lines[0]["value"]["summary"] == f"estime-metric {__version__}"
    files = [line["value"] for line in lines if line["key"] == "file"]
    sent = {file["path"]: base64.b64decode(file["content"]) for file in files}
    kept = {path.name: path.read_bytes() for path in SPACE.iterdir() if path.is_file()}
    if wheel:
        name = f"estime_metric-{__version__}-py3-none-any.whl"
        with zipfile.ZipFile(io.BytesIO(sent.pop(name))) as package:
            assert "estime_metric/demo/app.py" in package.namelist()
        address = f"https://huggingface.co/spaces/someone/estime/resolve/main/{name}"
        *_, package_line = sent.pop("requirements.txt").decode().splitlines()
        assert package_line == f"estime-metric[evaluate,demo] @ {address}"
        del kept["requirements.txt"]
    assert sent == kept
    assert {"README.md", "app.py", "estime.py"} <= set(sent)
