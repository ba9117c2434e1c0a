"""Writes the generated parts of docs/measures.md, docs/reference.md and docs/harnesses.md: ``python docs/tables.py``."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from estime_metric.measures import BASE_MEASURES, MEASURES, Measure

HEAD = "| measure | range | better | meaning |\n|---|---|---|---|\n"

#: Section of the reference -> its modules, with all their public classes and functions, or single objects
#: of a module (``module:name``), which is not imported.
REFERENCE = {
    "Scoring": (
        "estime_metric.scorer:estime",
        "estime_metric.scorer:EstimeScorer",
        "estime_metric.config:EstimeConfig",
        "estime_metric.result:EstimeResult",
        "estime_metric.novelty:novelty",
        "estime_metric.testing:assert_consistent",
        "estime_metric.engine.embedding:SourceCache",
    ),
    "Explanations": ("estime_metric.explanation:Explanation", "estime_metric.show"),
    "Comparison": ("estime_metric.compare",),
    "Toolkits": (
        "estime_metric.integrations.torchmetrics:ESTIME",
        "estime_metric.integrations.evaluate.metric:Estime",
        "estime_metric.integrations.evaluate.script:register",
        "estime_metric.integrations.ray:BatchScorer",
        "estime_metric.integrations.inspect:estime",
        "estime_metric.integrations.trl:estime_reward",
    ),
    "Files and jobs": ("estime_metric.jobs",),
    "Meta-evaluation": ("estime_metric.studies.meta",),
}


def row(measure: Measure) -> str:
    """The line of a measure."""
    high = f"`{measure.high}`" if isinstance(measure.high, str) else measure.high
    span = f"{measure.low:g} and up" if high is None else f"{measure.low:g} to {high}"
    better = {True: "higher", False: "lower", None: ""}[measure.higher_is_better]
    return f"| `{measure.name}` | {span} | {better} | {measure.meaning} |\n".replace("|  |", "| |")


def table(names: Iterable[str]) -> str:
    """The table of some measures."""
    return HEAD + "".join(row(MEASURES[name]) for name in names)


def documented(target: str) -> dict[str, str]:
    """Full name -> docstring of the objects that an entry of REFERENCE stands for."""
    module, _, name = target.partition(":")
    if not name:
        public = {
            name: getattr(import_module(module), name) for name in import_module(module).__all__
        }
        return {
            f"{module}.{name}": inspect.getdoc(public[name]) or ""
            for name in public
            if inspect.isroutine(public[name]) or inspect.isclass(public[name])
        }
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"Expected a module, but got {module!r}.")
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return {f"{module}.{name}": ast.get_docstring(node) or ""}
    raise ValueError(f"Expected {module} to define {name!r}.")


def reference() -> str:
    """The sections with the public names."""
    sections = []
    for heading, targets in REFERENCE.items():
        lines = [f"## {heading}\n"]
        for target in targets:
            for name, docstring in documented(target).items():
                summary, _, _ = docstring.partition("\n\n")
                lines.append(f"- `{name}`: {' '.join(summary.split())}")
        sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"


EXAMPLES = Path(__file__).parent / "examples"


def example(file: str) -> str:
    """A file of docs/examples, as a code block below a link to it."""
    path = EXAMPLES / file
    language = {".py": "python", ".yaml": "yaml"}[path.suffix]
    code = path.read_text(encoding="utf-8")
    return f'[{file}](examples/{file}):\n\n```{language} title="{file}"\n{code}```\n'


#: The recipes that docs/harnesses.md shows.
RECIPES = (
    "trainer_metrics.py",
    "lm_eval_functions.py",
    "lm_eval_task.yaml",
    "mlflow_scorer.py",
)

#: Page -> name of a generated part -> what is in it. The part is between two comments with its name.
PAGES = {
    "measures.md": {
        "in every row": lambda: table(BASE_MEASURES),
        "on request": lambda: table([name for name in MEASURES if name not in BASE_MEASURES]),
    },
    "reference.md": {"public names": reference},
    "harnesses.md": {file: partial(example, file) for file in RECIPES},
}


def generated(page: str, text: str) -> str:
    """The text of the page with its generated parts as they are now; ValueError if one is missing."""
    for name, part in PAGES[page].items():
        mark = f"<!-- {name} -->\n"
        pieces = text.split(mark)
        if len(pieces) != 3:
            raise ValueError(f"Expected {page} to have two lines {mark.strip()!r}.")
        text = f"{pieces[0]}{mark}{part()}{mark}{pieces[2]}"
    return text


def main() -> None:
    """Rewrites the pages."""
    for page in PAGES:
        path = Path(__file__).with_name(page)
        path.write_text(generated(page, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
