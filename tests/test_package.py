"""The package in a separate process, one for all: what imports, scores and unloading leave, what
settings change.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from estime_metric import __version__, embedded
from tests.command import run_python

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"

SCRIPT = """
    import json, logging, os, random, sys, warnings

    observed = {}
    levels = {name: logging.getLogger(name).level for name in ("", "transformers", "torch")}
    drawn = random.getstate()
    handlers, environment, filters = list(logging.root.handlers), dict(os.environ), list(warnings.filters)
    import estime_metric
    dir(estime_metric), estime_metric.__version__, estime_metric.EstimeConfig
    heavy = {"torch", "transformers", "numpy", "pandas", "tqdm", "cyclopts"}
    observed["imported"] = sorted(heavy & set(sys.modules))
    assert levels == {name: logging.getLogger(name).level for name in levels}
    assert handlers == logging.root.handlers
    assert environment == dict(os.environ)
    assert filters == warnings.filters
    estime_metric.novelty(["a"], ["a"])
    assert "torch" not in sys.modules
    for name in estime_metric.__all__:
        assert getattr(estime_metric, name) is not None, name
    assert set(estime_metric.__all__) <= set(dir(estime_metric))
    try:
        estime_metric.no_such_name
    except AttributeError as error:
        observed["missing"] = str(error)

    small = estime_metric.EstimeScorer(model="embedded-small", device="cpu")
    text = ["The cat sat."]
    small.score(text, text)
    heavy = ("transformers", "huggingface_hub", "torch._dynamo", "sympy", "pandas", "scipy")
    assert drawn == random.getstate()
    observed["imported for a score"] = [name for name in heavy if name in sys.modules]

    def memory():
        with open("/proc/self/statm") as pages:
            return int(pages.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

    if os.path.exists("/proc/self/statm"):
        from estime_metric.engine.encoder.memory import return_memory
        long = "The mayor said the bridge would open in spring after two years of work. " * 6
        small.score([long], [long])
        before = memory()
        for length in range(100, 350, 10):  # oneDNN makes kernels for each, of half a megabyte
            small.score([long[:length]], [long[:length]])
        observed["kernels"] = memory() - before
        before = memory()
        estime_metric.estime(text, text, model="embedded", device="cpu")
        observed["held"] = memory() - before
        estime_metric.unload_encoders()
        observed["left"] = memory() - before
        warnings.simplefilter("ignore", RuntimeWarning)  # bfloat16 is slower on some processors
        half = estime_metric.EstimeScorer(model="embedded-small", layers=1, distance=1, device="cpu", dtype="bfloat16")
        for length in range(50, 110):
            if length == 70:
                return_memory()
                before = memory()
            half.score(["a cat"], ["cat " * length])
        return_memory()
        observed["grown"] = memory() - before

    import torch
    from estime_metric.engine.encoder.device import inference_context
    new = hasattr(torch.backends, "fp32_precision")

    def inside():
        with inference_context(torch.device("cuda", 0)):
            if new:
                assert torch.backends.cudnn.conv.fp32_precision == "ieee"
                return torch.backends.cuda.matmul.fp32_precision in ("ieee", "none")
            return not torch.backends.cuda.matmul.allow_tf32

    assert inside()
    torch.backends.cuda.matmul.allow_tf32 = True
    assert inside() and torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_float32_matmul_precision("high")
    assert inside() and torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision("highest")
    observed["winners"] = []
    if new:  # once it was used, the old interface raises for good
        for setting in (torch.backends.cuda.matmul, torch.backends.cudnn, torch.backends):
            setting.fp32_precision = "tf32"
            assert inside() and setting.fp32_precision == "tf32"
            setting.fp32_precision = "none"
        source = ["A cat slept in the sun while a dog barked at the gate."]
        for setting in (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul, torch.backends):
            for value in ("tf32", "ieee"):
                setting.fp32_precision = value
                observed["winners"].append(small.score(["A dog slept."], source).values("winners").item())
                assert setting.fp32_precision == value, (setting, value)
                setting.fp32_precision = "none"
    print(json.dumps(observed))
"""


@pytest.fixture(scope="module")
def observed() -> dict[str, Any]:
    run = run_python(SCRIPT, PYTHONWARNINGS="error")
    assert run.stderr == ""
    return json.loads(run.stdout)


@pytest.mark.slow
def test_nothing_waits_for_an_import_that_it_does_not_need_and_every_public_name_is_there(
    observed: dict[str, Any],
) -> None:
    assert observed["imported"] == observed["imported for a score"] == []
    assert observed["missing"] == "module 'estime_metric' has no attribute 'no_such_name'"


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="needs /proc to read the memory of a process"
)
def test_unloading_gives_the_memory_back_and_shapes_take_none(observed: dict[str, Any]) -> None:
    weights = (
        4 * (embedded.BASE / "model.safetensors").stat().st_size / 1e6
    )  # int8 on disk, float32 in memory
    assert 0.8 < observed["held"] / weights < 1.4  # one copy
    assert observed["left"] < 0.3 * weights
    assert observed["kernels"] < 40  # MB
    assert observed["grown"] < 100


def test_products_are_in_float32_whatever_either_interface_of_torch_is_told(
    observed: dict[str, Any],
) -> None:
    """Without a GPU the settings of CUDA can be read all the same."""
    assert len(observed["winners"]) in (0, 6)  # 0 with torch before 2.9
    assert len(set(observed["winners"])) <= 1


def test_unreleased_changes_of_scores_have_a_version_of_development() -> None:
    """Otherwise two programs with one signature would give two scores."""
    _, newest, *_ = CHANGELOG.read_text(encoding="utf-8").split("\n## ")
    changes_scores = newest.startswith("Unreleased\n") and "**Scores" in newest
    assert not changes_scores or ".dev" in __version__


def test_only_the_type_of_scores_knows_where_a_data_frame_keeps_its_record() -> None:
    package = Path(embedded.__file__).parents[1]
    names = {
        path.relative_to(package).as_posix(): {
            getattr(node, "attr", getattr(node, "id", getattr(node, "name", None)))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        }
        for path in package.rglob("*.py")
    }
    assert {path for path in names if "attrs" in names[path]} == {"table/scores.py"}
    assert not [path for path in names if names[path] & {"has_scores", "_PLANNED"}]
