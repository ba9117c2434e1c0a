"""The example notebook runs, and shows what it says: ``python -m tests.test_notebook`` runs it again
and keeps its outputs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "examples" / "first_steps.ipynb"
_NUMBER = re.compile(r"-?\d+\.\d+")


def executed() -> Any:
    """The notebook with the outputs of its cells; an error in a cell is raised."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3")
    client.execute(cwd=str(NOTEBOOK.parent))
    return notebook


def texts(notebook: Any) -> list[str]:
    """What its cells print and show, as plain text."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    shown = [output.get("text") or output["data"]["text/plain"] for output in outputs]
    return [text if isinstance(text, str) else "".join(text) for text in shown]


@pytest.mark.slow
def test_the_notebook_runs_and_its_outputs_are_those_of_now() -> None:
    pytest.importorskip("nbclient", reason="the notebook needs nbclient and ipykernel")
    pytest.importorskip("ipykernel", reason="the notebook needs nbclient and ipykernel")
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    now = texts(executed())
    assert len(now) == len(texts(stored))
    for after, before in zip(now, texts(stored), strict=True):
        assert _NUMBER.sub("#", after) == _NUMBER.sub("#", before)
        numbers, expected = (list(map(float, _NUMBER.findall(text))) for text in (after, before))
        assert numbers == pytest.approx(expected, abs=5e-3)


if __name__ == "__main__":
    import nbformat

    nbformat.write(executed(), NOTEBOOK)
