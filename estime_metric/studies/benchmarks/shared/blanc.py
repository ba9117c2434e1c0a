"""BLANC (Vasilyev, Dharnidharka & Bohannon 2020) by the authors' own package ``blanc``; extra
``blanc``.

How much better an encoder guesses masked words of the source when it is helped by the summary: by
having it in front of each sentence (``help``), or by being tuned on it first (``tune``).
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
import torch

from estime_metric import embedded
from estime_metric.checks import check_pairs
from estime_metric.config import versioned
from estime_metric.engine.encoder.loading import load_pretrained, revision_of
from estime_metric.studies.benchmarks.shared.blocks import (
    REFERENCE_FREE,
    Advance,
    Block,
    Prepared,
    ScoreColumn,
)
from estime_metric.studies.benchmarks.shared.data import Summaries
from estime_metric.table.arrays import Floats

PAPER_ROWS = {"bert-large-uncased": "BLANC-BLU", "albert-xxlarge-v2": "BLANC-AXXL"}


class BlancScorer:
    """BLANC with one encoder. ``model`` is a Hub name or folder of a BERT (or of an ALBERT, with
    ``albert`` in its name), or ``"embedded-small"``; ``kind`` is ``"help"`` or ``"tune"``; ``device`` for
    example ``"cuda"``, the CPU if omitted; ``options`` are options of ``blanc.BlancHelp`` or
    ``blanc.BlancTune``, such as ``gap``. Raises ImportError without ``blanc`` or ``nltk``, OSError
    if the encoder cannot be loaded, TypeError and ValueError for one without a prediction head and
    invalid options."""

    def __init__(
        self, model: str, *, kind: str = "help", device: str | None = None, **options: Any
    ) -> None:
        package = load_package()
        split, name_of_split = _sentence_splitter()
        package.sent_tokenize = split  # type: ignore[attr-defined]
        chosen = {"inference_batch_size": 16, **options}  # sentences in a forward pass
        made: Callable[..., Any] = package.BlancHelp if kind == "help" else package.BlancTune
        with TemporaryDirectory() as folder:
            source = model
            if model in embedded.PATHS:
                loaded = load_pretrained(model, None, torch.float32)
                loaded.with_head()
                loaded.save(source := folder)
            self._scorer = made(
                model_name=source, device=device or "cpu", show_progress_bar=False, **chosen
            )
        shown = "".join(f"|{name}:{value}" for name, value in sorted(options.items()))
        named = versioned(model, revision_of(model, None))
        self.signature = (
            f"BLANC|{kind}|blanc {version('blanc')}|model:{named}|sentences:{name_of_split}{shown}"
        )

    def score(
        self, summaries: Sequence[str], sources: Sequence[str], *, advance: Advance | None = None
    ) -> Floats:
        """BLANC of each summary, float64 between -1 and 1; higher is better. A source that comes
        several times in a row is prepared once; ``advance`` is called with the number of summaries
        done."""
        texts, originals = check_pairs(list(summaries), list(sources), "summaries")
        scores: list[float] = []
        for source, group in groupby(zip(originals, texts, strict=True), key=itemgetter(0)):
            together = [text for _, text in group]
            with _own_random_numbers():
                scores += self._scorer.eval_summaries_for_docs([source], [together])[0]
            if advance is not None:
                advance(len(together))
        return np.array(scores, dtype=np.float64)


def blanc_block(model: str, kind: str = "help", *, device: str | None = None) -> Block:
    """BLANC as a measure of a benchmark; with an encoder of `PAPER_ROWS`, its row is directly above
    the paper's row.
    """
    name = model.rstrip("/").rsplit("/", 1)[-1]
    label = PAPER_ROWS.get(name, f"BLANC {name}") if kind == "help" else f"BLANC-tune {name}"
    column = f"blanc_{kind}_{name}"

    def prepare() -> Prepared:
        scorer = BlancScorer(model, kind=kind, device=device)

        def compute(data: Summaries, advance: Advance) -> dict[str, Floats]:
            return {column: scorer.score(data.summaries, data.sources, advance=advance)}

        return Prepared(scorer.signature, compute)

    return Block(f"BLANC-{kind} {name}", (ScoreColumn(column, label, REFERENCE_FREE),), prepare)


def load_package() -> ModuleType:
    """The module ``blanc.blanc``; ImportError if it is not installed. ``blanc`` 0.3.4 imports names
    that ``transformers`` 5 lacks: ``AdamW``, which torch's replaces, and a model in a module that
    its ``__init__`` loads, which is skipped."""
    if (known := sys.modules.get("blanc.blanc")) is not None:
        return known
    spec = importlib.util.find_spec("blanc")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(
            "BLANC needs nltk and blanc, whose pins exclude torch 2: pip install 'estime-metric[nltk]', then "
            "pip install --no-deps blanc==0.3.4."
        )
    import transformers

    package, before = ModuleType("blanc"), sys.modules.get("blanc")
    package.__path__ = list(spec.submodule_search_locations)
    lacks_optimizer = not hasattr(transformers, "AdamW")
    sys.modules["blanc"] = package
    if lacks_optimizer:
        transformers.AdamW = torch.optim.AdamW
    try:
        return importlib.import_module("blanc.blanc")
    finally:
        if lacks_optimizer:
            del transformers.AdamW
        del sys.modules["blanc"]
        if before is not None:
            sys.modules["blanc"] = before


def _sentence_splitter() -> tuple[Callable[[str], list[str]], str]:
    """NLTK's splitter as ``blanc`` uses it, or, without its data, the same algorithm untrained;
    with its name.
    """
    from nltk.tokenize import sent_tokenize
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    try:
        sent_tokenize("A sentence.")
    except LookupError:
        return PunktSentenceTokenizer().tokenize, "punkt-untrained"
    return sent_tokenize, "punkt"


@contextmanager
def _own_random_numbers() -> Iterator[None]:
    """The package seeds the global generators when it tunes; they are as before afterwards."""
    state = random.getstate()
    with torch.random.fork_rng():
        try:
            yield
        finally:
            random.setstate(state)
