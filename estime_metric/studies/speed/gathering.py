"""What gathering single pairs into batches gains, as Inspect and MLflow ask for them.

    python -m estime_metric.studies.speed.gathering --clock cpu

Prints a table for pairs that share sources and one for pairs that do not: one call a pair without
and with kept sources, gathered by `MicroBatcher`, and, where inspect-ai is installed, whole
evaluations of Inspect with one sample at a time and with all at once. Without explanations; loading
the encoder is not counted.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable

from estime_metric import EstimeScorer
from estime_metric.integrations.judging import Judge, MicroBatcher
from estime_metric.studies.speed import common


def one_by_one(judge: Judge, pairs: list[common.Pair]) -> list[float]:
    """The alarms of each pair, scored in a call of its own."""
    return [judge([summary], [source])[0].measures["alarms"] for summary, source in pairs]


def gathered(judge: Judge, pairs: list[common.Pair]) -> list[float]:
    """The alarms of each pair, all submitted before the first is scored."""
    batcher = MicroBatcher(judge)
    return [
        future.result().measures["alarms"] for future in [batcher.submit(*pair) for pair in pairs]
    ]


def with_inspect(model: str, pairs: list[common.Pair], at_once: int) -> list[float]:
    """The alarms of each pair, from the log of an evaluation by Inspect."""
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from estime_metric.integrations.inspect import estime

    def answer(messages: list[object], *_: object) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", pairs[int(messages[-1].text)][0])  # type: ignore[attr-defined]
        output.usage = ModelUsage(
            input_tokens=1, output_tokens=1, total_tokens=2
        )  # else counted with a download
        return output

    samples = [
        Sample(input=str(row), metadata={"source": source}, id=row)
        for row, (_, source) in enumerate(pairs)
    ]
    task = inspect_ai.Task(
        dataset=samples, scorer=estime(source="source", explain=False, model=model)
    )
    llm = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_ai.eval(
            task, model=llm, log_dir=folder, display="none", max_samples=at_once
        )
        by_id = {
            sample.id: sample.scores["estime"].value["alarms"] for sample in log.samples
        }  # read from the folder
    return [by_id[row] for row in range(len(pairs))]


def ways(model: str, pairs: list[common.Pair]) -> dict[str, Callable[[], list[float]]]:
    """What is compared, by name; each run starts with a scorer of its own, that has no source."""
    found = {
        "one by one, nothing kept": lambda: one_by_one(Judge(EstimeScorer(model=model)), pairs),
        "one by one, sources kept": lambda: one_by_one(Judge(model=model), pairs),
        "gathered": lambda: gathered(Judge(model=model), pairs),
    }
    if importlib.util.find_spec("inspect_ai"):
        found["Inspect, one sample at a time"] = lambda: with_inspect(model, pairs, 1)
        found["Inspect, all at once"] = lambda: with_inspect(model, pairs, len(pairs))
    return found


def main() -> None:
    parser = common.arguments(__doc__, model="embedded-small", pairs=16, rounds=3)
    common.add_summeval(parser)
    options = common.start(parser)
    holder = EstimeScorer(model=options.model)  # keeps the encoder loaded
    _ = holder.signature
    for sources, each in ((options.pairs // 8, 8), (options.pairs, 1)):
        pairs, texts = common.pairs_of(options.summeval, sources, each)
        found = common.alternate(
            ways(options.model, pairs), options.rounds, common.clock(options.clock)
        )
        first, alarms = found["one by one, nothing kept"]
        rows = [
            (way, f"{seconds:.1f}", f"{seconds / first:.2f}", "yes" if values == alarms else "no")
            for way, (seconds, values) in found.items()
        ]
        title = f"{len(pairs)} pairs, {each} of each source ({texts})"
        common.print_table(
            title, ("way", f"{options.clock} seconds", "share of the first", "alarms equal"), rows
        )


if __name__ == "__main__":
    main()
