"""Trains a coherence classifier: ``python -m estime_metric.studies.coherence_measures.train
TEXTS.jsonl --output FOLDER``.

TEXTS.jsonl (or .jsonl.gz) contains one coherent text per line, such as reference summaries:
``{"text": "..."}``. Any encoder of transformers can be started from, also ``--model
embedded-small``. The folder is then a ``CoherenceClassifier``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from estime_metric.studies.benchmarks.shared.records import read_frame
from estime_metric.studies.coherence_measures.classifier import train_classifier

#: Options of `train_classifier` and their defaults.
OPTIONS = {
    name: default
    for name, default in (train_classifier.__kwdefaults__ or {}).items()
    if isinstance(default, int | float) and not isinstance(default, bool)
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads the command line, trains, saves; returns the exit status: 0, or 2 on failure."""
    parser = argparse.ArgumentParser(
        prog="python -m estime_metric.studies.coherence_measures.train", description=__doc__
    )
    parser.add_argument("texts", type=Path, help="JSON Lines, .gz or not")
    parser.add_argument("--output", "-o", required=True, help="folder for the classifier")
    parser.add_argument("--model", "-m", default="roberta-large", help="encoder (%(default)s)")
    parser.add_argument("--field", default="text", help="field of the texts (%(default)s)")
    parser.add_argument("--limit", type=int, help="use the first texts only")
    for name, default in OPTIONS.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(default), default=default, help="(%(default)s)")
    parser.add_argument("--device", help="cpu, cuda ...")
    parser.add_argument("--truncate", action="store_true", help="cut texts that are too long")
    parsed = parser.parse_args(arguments)
    try:
        texts = list(read_frame(parsed.texts, (parsed.field,))[parsed.field])
        classifier = train_classifier(
            texts[: parsed.limit],
            parsed.model,
            device=parsed.device,
            truncate=parsed.truncate,
            on_epoch=_report,
            **{name: getattr(parsed, name) for name in OPTIONS},
        )
        classifier.save(parsed.output)
    except (OSError, TypeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {parsed.output}")
    return 0


def _report(number: int, loss: float, f1: float) -> None:
    print(f"epoch {number}: loss {loss:.4f}, F1 of held-out originals {f1:.3f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
