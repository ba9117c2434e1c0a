"""Trains a coherence classifier: ``python -m estime_metric.studies.coherence.train TEXTS.jsonl --output FOLDER``.

TEXTS.jsonl (or .jsonl.gz) holds one coherent text in each line, such as reference summaries: ``{"text": "..."}``. Any
encoder of transformers can be started from, also ``--model embedded-small``. The folder is then a
``CoherenceClassifier``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from estime_metric.studies.coherence.classifier import Epoch, TrainingOptions, train_classifier


def read_texts(path: Path, field: str = "text", limit: int | None = None) -> list[str]:
    """The texts of a JSON Lines file, ``.gz`` or not; blank lines are left out.

    Raises:
        ValueError: a line is no JSON object with a text in ``field``; it is named.
        OSError: the file cannot be read.
    """
    texts: list[str] = []
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if limit is not None and len(texts) >= limit:
                break
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"Expected JSON in line {number} of {path.name!r}, but {error.msg}.") from error
            if not isinstance(row, dict) or not isinstance(row.get(field), str):
                raise ValueError(
                    f"Expected a text in field {field!r} of line {number} of {path.name!r}, but there is none."
                )
            texts.append(row[field])
    return texts


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line, trains, saves; returns the exit status: 0, or 2 where that was not possible."""
    defaults = TrainingOptions()
    parser = argparse.ArgumentParser(prog="python -m estime_metric.studies.coherence.train", description=__doc__)
    parser.add_argument("texts", type=Path, help="JSON Lines, .gz or not")
    parser.add_argument("--output", "-o", type=Path, required=True, help="folder for the classifier")
    parser.add_argument("--model", "-m", default="roberta-large", help="encoder to start from (%(default)s)")
    parser.add_argument("--field", default="text", help="field of the texts (%(default)s)")
    parser.add_argument("--limit", type=int, help="use the first texts only")
    parser.add_argument("--epochs", type=int, default=defaults.epochs, help="(%(default)s)")
    parser.add_argument("--learning-rate", type=float, default=defaults.learning_rate, help="(%(default)s)")
    parser.add_argument("--batch-size", type=int, default=defaults.batch_size, help="(%(default)s)")
    parser.add_argument("--shuffles", type=int, default=defaults.shuffles, help="shuffled forms each (%(default)s)")
    parser.add_argument("--validation", type=float, default=defaults.validation, help="share held out (%(default)s)")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="(%(default)s)")
    parser.add_argument("--device", help="cpu, cuda ...")
    parser.add_argument("--truncate", action="store_true", help="cut texts longer than the encoder's positions")
    given = parser.parse_args(arguments)
    try:
        options = TrainingOptions(
            given.epochs, given.learning_rate, given.batch_size, given.shuffles, given.validation, given.seed
        )
        texts = read_texts(given.texts, given.field, given.limit)
        classifier = train_classifier(
            texts, given.model, options, device=given.device, truncate=given.truncate, on_epoch=_report
        )
        classifier.save(given.output)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {given.output}")
    return 0


def _report(epoch: Epoch) -> None:
    print(f"epoch {epoch.number}: loss {epoch.loss:.4f}, F1 of held-out originals {epoch.f1:.3f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
