"""The example notebook runs, and shows what it says: ``python -m tests.test_notebook`` runs it again
and keeps its outputs.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "examples" / "first_steps.ipynb"
_NUMBER = re.compile(r"-?\d+\.\d+")


def executed() -> dict[str, Any]:
    """The notebook with the outputs that its code cells have in this process; an error is raised."""
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        printed, shown = io.StringIO(), []
        statements = ast.Interactive(ast.parse("".join(cell["source"])).body)
        with redirect_stdout(printed), patch.object(sys, "displayhook", shown.append):
            exec(compile(statements, f"cell {number}", "single"), names)
        cell["outputs"] = []
        if printed.getvalue():
            text = printed.getvalue().splitlines(keepends=True)
            cell["outputs"].append({"name": "stdout", "output_type": "stream", "text": text})
        for value in shown:
            if value is not None:
                cell["outputs"].append(_result(value, number))
    return notebook


def _result(value: Any, number: int) -> dict[str, Any]:
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data = {"text/html": value._repr_html_().splitlines(keepends=True), **data}
    return {
        "data": data,
        "execution_count": number,
        "metadata": {},
        "output_type": "execute_result",
    }


def texts(notebook: dict[str, Any]) -> list[str]:
    """What its cells print and show, as plain text."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return ["".join(output.get("text") or output["data"]["text/plain"]) for output in outputs]


@pytest.mark.slow
def test_the_notebook_runs_and_its_outputs_are_those_of_now() -> None:
    stored = texts(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    for after, before in zip(texts(executed()), stored, strict=True):
        assert _NUMBER.sub("#", after) == _NUMBER.sub("#", before)
        numbers, expected = (list(map(float, _NUMBER.findall(text))) for text in (after, before))
        assert numbers == pytest.approx(expected, abs=5e-3)


if __name__ == "__main__":
    NOTEBOOK.write_text(json.dumps(executed(), indent=1, ensure_ascii=False) + "\n", "utf-8")
