"""Trains a coherence classifier: ``python -m estime_metric.studies.coherence_measures.train
TEXTS.jsonl --output FOLDER``.
"""

# Annotations are evaluated here, not postponed, because Cyclopts reads them.
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from estime_metric.cli import options
from estime_metric.cli.console import make_app, run, say, say_wrote
from estime_metric.studies.benchmarks.shared.records import read_frame

app = make_app(
    "python -m estime_metric.studies.coherence_measures.train",
    "Train a coherence classifier on texts and the same texts shuffled.",
)
main = partial(run, app)


@app.default
def train(
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(alias="-o")],
    model: Annotated[str, Parameter(alias="-m")] = "roberta-large",
    epochs: options.PositiveCount = 6,
    learning_rate: float = 2e-6,
    batch_size: options.PositiveCount = 8,
    shuffles: options.PositiveCount = 1,
    validation: float = 0.1,
    seed: options.Seed = 0,
    device: str | None = None,
    truncate: bool = False,
) -> None:
    """Train a coherence classifier on texts and the same texts shuffled.

    The defaults are the paper's if it states them.

    Args:
        file: JSON Lines (also .gz) with a coherent text per line, such as a reference summary:
            {"text": "..."}.
        output: Folder for the classifier.
        model: Encoder, Hub name or folder, or 'embedded-small'.
        shuffles: Shuffled forms of each text.
        validation: Fraction of the texts that choose the best epoch.
        device: cpu, cuda ... (default: cuda if available, otherwise cpu)
        truncate: Truncate texts that are longer than the model's maximum input.
    """
    from estime_metric.studies.coherence_measures.classifier import train_classifier  # torch: slow

    classifier = train_classifier(
        list(read_frame(file, ("text",))["text"]),
        model,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        shuffles=shuffles,
        validation=validation,
        seed=seed,
        device=device,
        truncate=truncate,
        on_epoch=lambda number, loss, f1: say(
            f"epoch {number}: loss {loss:.4f}, F1 of held-out originals {f1:.3f}"
        ),
    )
    classifier.save(output)
    say_wrote("classifier", output)


if __name__ == "__main__":
    raise SystemExit(main())
