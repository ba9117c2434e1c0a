"""The Space's own folder: the script that it starts, its card, what it installs, and the command
that uploads it.
"""

from __future__ import annotations

import gc
import io
import os
import re
import runpy
import shutil
import subprocess
import sys
import warnings
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from estime_metric import __version__
from tests.command import json_rows

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


#: Stands in for the Hub's client: keeps the words of each call, and the folder that it is to upload.
CLIENT = """#!{python}
import json, shutil, sys

with open("{folder}/calls.jsonl", "a") as calls:
    print(json.dumps(sys.argv[1:]), file=calls)
if sys.argv[1] == "upload":
    shutil.copytree(sys.argv[3], "{folder}/sent")
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the command is a script for bash")
@pytest.mark.parametrize("wheel", [False, True])
def test_the_whole_folder_is_uploaded_to_the_space(tmp_path: Path, wheel: bool) -> None:
    """From a copy of the repository without weights."""
    for name in (".ci", "hub_space", "estime_metric"):
        shutil.copytree(
            ROOT / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns("*.safetensors", "__pycache__"),
        )
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tmp_path)
    client = tmp_path / "bin" / "hf"
    client.parent.mkdir()
    client.write_text(CLIENT.format(python=sys.executable, folder=tmp_path))
    client.chmod(0o755)
    folders = [client.parent, Path(sys.executable).parent, os.environ["PATH"]]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join(map(str, folders)),
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
    assert done.returncode == 0, done.stderr
    created, uploaded = json_rows(tmp_path / "calls.jsonl")
    space = ["--type", "space"]
    assert created == [
        *["repos", "create", "someone/estime", *space],
        *["--space-sdk", "gradio", "--exist-ok"],
    ]
    message = f"estime-metric {__version__}"
    assert (uploaded[:2], uploaded[3:]) == (
        ["upload", "someone/estime"],
        [".", *space, "--exclude", "*.pyc", "--commit-message", message],
    )
    sent = {path.name: path.read_bytes() for path in (tmp_path / "sent").iterdir()}
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


@pytest.mark.slow
def test_the_client_of_the_hub_has_the_options_of_the_command() -> None:
    for words, options in (
        ("repos create", "--type --space-sdk --exist-ok"),
        ("upload", "--type --exclude --commit-message"),
    ):
        shown = subprocess.run(
            ["hf", *words.split(), "--help"], capture_output=True, text=True, check=True
        ).stdout
        assert set(options.split()) <= set(re.findall(r"--[a-z-]+", shown))
