"""ESTIME and other metrics of ``evaluate`` in one call."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import evaluate

from estime_metric.config import OPTIONS
from estime_metric.integrations.evaluate.added import Added
from estime_metric.integrations.evaluate.metric import MODEL_REVISION, Estime

#: One example: input -> its text, as ``{"predictions": ..., "references": ..., "sources": ...}``.
Example = dict[str, Any]


def combine(
    evaluations: list[Any] | dict[str, Any],
    force_prefix: bool = False,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> Combined:
    """As `evaluate.combine`, but each module gets the inputs and options that it declares.

    Args:
        evaluations: modules, or names that `evaluate.load` accepts, as a list or as a dict from
            prefixes.
        force_prefix: put the prefix before every key of the result, not only before keys that two
            modules share.
        options: for each module, by its name or prefix, what every ``compute`` passes to it:
            ``{"estime": {"layers": 3}}``.

    Raises:
        ValueError: ``options`` names a module that is not combined.

    Example:
        >>> from estime_metric.integrations.evaluate import Estime, combine
        >>> both = combine({"shallow": Estime(layers=1), "deep": Estime()})
        >>> scores = both.compute(predictions=["A cat sat."], references=["A cat."], sources=["A cat sat down."])
        >>> [name for name in scores if name.endswith("alarms")]
        ['shallow_alarms', 'deep_alarms']
    """
    return Combined(evaluations, force_prefix=force_prefix, options=options)


class Combined(evaluate.CombinedEvaluations):  # type: ignore[misc]
    """What `combine` returns; the arguments are the same. The examples that are added wait here;
    `compute` hands them to the modules.
    """

    def __init__(
        self,
        evaluations: list[Any] | dict[str, Any],
        force_prefix: bool = False,
        *,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(evaluations, force_prefix=force_prefix)
        for name in options or {}:
            if name not in self.evaluation_module_names:
                names = ", ".join(self.evaluation_module_names)
                raise ValueError(
                    f"Expected argument `options` to name modules among {names}, but got {name!r}."
                )
        self._options = {name: dict(own) for name, own in (options or {}).items()}
        self._added: Added[Example] = Added()
        #: The inputs that some module declares, and the arguments that `compute` of every module accepts.
        self._inputs = {"predictions", "references"}
        for module in self.evaluation_modules:
            self._inputs.update(module._feature_names())

    def __len__(self) -> int:
        """How many examples wait for `compute`."""
        return len(self._added.rows)

    def add(self, prediction: Any = None, reference: Any = None, **named: Any) -> None:
        """Adds one example: ``prediction``, ``reference``, ``source``, and the other inputs that
        the modules declare, in the singular or as declared.

        Raises:
            ValueError: an input that no module declares; the message names it.
        """
        given = {"prediction": prediction, "reference": reference, **named}
        inputs = {
            name if name in self._inputs else f"{name}s": value for name, value in given.items()
        }
        columns = {name: [value] for name, value in inputs.items() if value is not None}
        self._added.add(self._examples(columns))

    def add_batch(self, predictions: Any = None, references: Any = None, **named: Any) -> None:
        """Adds a batch of examples: ``predictions``, ``references``, ``sources``, and the other
        inputs that the modules declare.

        Raises:
            ValueError: an input that no module declares, or inputs of different lengths; the
                message names them. Nothing is added then.
        """
        self._added.add(self._examples(_given(predictions, references, named)))

    def compute(
        self, predictions: Any = None, references: Any = None, **named: Any
    ) -> dict[str, Any]:
        """Computes each module on what was added and what is given here, and forgets it.

        An input or option goes to the modules that declare it. An option that none declares by name
        goes to the modules that accept any option.

        Raises:
            TypeError: no module accepts an option.
            ValueError: as for `add_batch`; or whatever a module raises. What is given here is
                forgotten then. What was added before is kept for another ``compute``; the message
                says how many, and adding further examples begins anew.
        """
        inputs = {name: value for name, value in named.items() if name in self._inputs}
        options = {name: value for name, value in named.items() if name not in self._inputs}
        given = _given(predictions, references, inputs)
        with self._added.computing() as added:
            columns = _columns([*added, *self._examples(given)], given)
            results = []
            for module, passed in zip(self.evaluation_modules, self._passed(options), strict=True):
                declared = {"predictions", "references", *module._feature_names()}
                own = {name: column for name, column in columns.items() if name in declared}
                results.append(module.compute(**own, **passed))
        merged: dict[str, Any] = self._merge_results(results)
        return merged

    def _examples(self, columns: Mapping[str, Iterable[Any]]) -> list[Example]:
        for name in columns:
            if name not in self._inputs:
                raise ValueError(
                    f"Expected inputs among {', '.join(sorted(self._inputs))}, but got `{name}`."
                )
        listed = {name: list(column) for name, column in columns.items()}
        lengths = {name: len(column) for name, column in listed.items()}
        if len(set(lengths.values())) > 1:
            came = ", ".join(f"{length} {name}" for name, length in lengths.items())
            raise ValueError(f"Expected inputs of the same length, but got {came}.")
        return [
            dict(zip(listed, values, strict=True)) for values in zip(*listed.values(), strict=True)
        ]

    def _passed(self, options: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The options of each module, in the order of the modules."""
        declared = [_declared_options(module) for module in self.evaluation_modules]
        known = set().union(*(names for names in declared if names is not None))
        for name in options:
            if name not in known and None not in declared:
                listed = ", ".join(sorted(known)) or "none"
                raise TypeError(
                    f"Expected an option that one of the modules accepts ({listed}), but got `{name}`."
                )
        passed = []
        for names, module in zip(declared, self.evaluation_module_names, strict=True):
            own = {
                name: value
                for name, value in options.items()
                if (name not in known if names is None else name in names)
            }
            passed.append({**self._options.get(module, {}), **own})
        return passed


def _given(predictions: Any, references: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    columns = {"predictions": predictions, "references": references, **named}
    return {name: column for name, column in columns.items() if column is not None}


def _columns(examples: list[Example], given: Iterable[str]) -> dict[str, list[Any]]:
    """The inputs as columns: the examples, and the inputs that were ``given``, if they are empty."""
    columns: dict[str, list[Any]] = {name: [] for name in given}
    columns |= {name: [] for example in examples for name in example}
    for name, column in columns.items():
        column += [example[name] for example in examples if name in example]
        if len(column) < len(examples):
            raise ValueError(
                f"Expected `{name}` for all {len(examples)} examples, but only {len(column)} have it."
            )
    return columns


def _declared_options(module: Any) -> set[str] | None:
    """The options that ``compute`` of a module accepts; ``None`` if it accepts any keyword."""
    if isinstance(module, Estime):
        return {*OPTIONS, MODEL_REVISION}
    parameters = inspect.signature(module._compute).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {parameter.name for parameter in parameters} - set(module._feature_names())
