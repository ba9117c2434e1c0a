"""Seconds of the same pairs by several programs, in turn, without loading."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import torch
import transformers
from torchmetrics.text.bert import BERTScore

from estime_metric import EstimeScorer, embedded
from estime_metric.engine.encoder.foreign import load_pretrained
from estime_metric.engine.splitter import split_words
from experiments.benchmarks.common import show
from experiments.speed.common import DATA, Pairs, alternate, pairs_of

ARTICLES = 3
#: Summaries of each article, for `peers`.
EACH = 4

MODELS = ("embedded", "embedded-small")
BERTSCORE, BLANC = "BERTScore of TorchMetrics, 512 tokens", "blanc.Estime 0.3.4"

#: Encoders of detectors that read summary and source together. The first is that of flan-t5-base, the second
#: ModernBERT-base, the others Ettin's (JHU-CLSP/ettin-encoder-vs-decoder, pretraining/configs/standard).
SHAPES: dict[str, transformers.PretrainedConfig] = {
    "HHEM-2.1-open": transformers.T5Config(
        d_model=768, d_ff=2048, num_layers=12, num_heads=12, feed_forward_proj="gated-gelu"
    ),
    "LettuceDetect-base": transformers.ModernBertConfig(),
    "TinyLettuce-68M": transformers.ModernBertConfig(
        hidden_size=512, intermediate_size=768, num_hidden_layers=19, num_attention_heads=8
    ),
    "TinyLettuce-17M": transformers.ModernBertConfig(
        hidden_size=256, intermediate_size=384, num_hidden_layers=7, num_attention_heads=4
    ),
}

Program = Callable[[Pairs], object]


def cost(*, data: Path = DATA) -> None:
    """Seconds of a thousand pairs, by encoder and setting, and BERTScore.

    The pairs are CNN/DailyMail articles of BUMP with their reference summaries, one for each
    article.
    """
    pairs = pairs_of(data, ARTICLES, 1)
    for model in MODELS:
        programs: dict[str, Program] = {
            f"distance {distance}, {dtype}": ours(model, distance=distance, dtype=dtype)
            for distance in (2, 8)
            for dtype in ("float32", "auto")
        }
        with saved(model) as (folder, layer):
            programs[BERTSCORE] = bertscore(folder, layer)
            runs = {name: _run(program, pairs) for name, program in programs.items()}
            seconds = alternate(runs, rounds=1).median() * 1000 / ARTICLES
        show(f"{model}, a thousand pairs, from {ARTICLES}", seconds.to_frame("seconds"), 0)


def peers(*, data: Path = DATA) -> None:
    """Seconds of the first summary of a source, and of each further one, by several programs.

    The detectors have the shapes of their encoders and random weights, get as many tokens as
    WordPiece makes of a summary and its source, and read one pair after the other as
    `transformers` runs them. blanc.Estime gets this package's splitter and no tagger, because its
    own need data of NLTK.
    """
    parts = {"first": pairs_of(data, ARTICLES, 1), "all": pairs_of(data, ARTICLES, EACH)}
    seconds = {}
    with saved("embedded-small") as (folder, layer):
        programs: dict[str, Program] = {
            **{model: ours(model) for model in MODELS},
            "embedded-small, unit word, distance 8": ours(
                "embedded-small", distance=8, unit="word"
            ),
            f"embedded-small, {BLANC}": released(folder, layer),
            f"embedded-small, {BERTSCORE}": bertscore(folder, layer),
            **{name: detector(config) for name, config in SHAPES.items()},
        }
        for part, pairs in parts.items():
            runs = {name: _run(program, pairs) for name, program in programs.items()}
            seconds[part] = alternate(runs, rounds=1)
    further = (seconds["all"] - seconds["first"]) / (len(parts["all"][0]) - ARTICLES)
    table = pd.DataFrame()
    for part, taken in (("first", seconds["first"] / ARTICLES), ("further", further)):
        table[part] = taken.median()
        table[f"{part}, times embedded"] = taken.div(taken["embedded"], axis=0).median()
    show(f"Seconds of a summary of BUMP, from {ARTICLES} articles", table, 3)


def _run(program: Program, pairs: Pairs) -> Callable[[], object]:
    return lambda: program(pairs)


def ours(model: str, **options: Any) -> Program:
    """This package with a setting."""
    scorer = EstimeScorer(model=model, **{"device": "cpu", **options})
    return lambda pairs: scorer.score(*pairs)


def detector(config: transformers.PretrainedConfig) -> Program:
    """An encoder of this shape that reads each summary with its source."""
    model = model_of(config)
    tokenizer = transformers.AutoTokenizer.from_pretrained(embedded.SMALL)

    def run(pairs: Pairs) -> None:
        for summary, source in zip(*pairs, strict=True):
            with torch.inference_mode():
                model(torch.tensor([tokenizer(source, summary)["input_ids"]]))

    return run


def model_of(config: transformers.PretrainedConfig) -> Any:
    """An encoder of this shape with random weights."""
    is_t5 = isinstance(config, transformers.T5Config)
    kind = transformers.T5EncoderModel if is_t5 else transformers.ModernBertModel
    return kind(config).eval()


def bertscore(folder: str, layer: int, device: str = "cpu") -> Program:
    """TorchMetrics' BERTScore, which cuts texts off after 512 tokens."""
    metric = BERTScore(folder, num_layers=layer, device=device, truncation=True)

    def run(pairs: Pairs) -> object:
        metric.reset()
        metric.update(*pairs)
        return metric.compute()

    return run


def released(folder: str, layer: int) -> Program:
    """The released code."""
    module: Any = released_code()
    if module is None:
        raise SystemExit("blanc 0.3.4 is not installed: pip install --no-deps blanc==0.3.4")
    estime = module.Estime(folder, i_layer_context=layer, device="cpu", output=["alarms"])

    def run(pairs: Pairs) -> None:
        table = pd.DataFrame({"summary": pairs[0], "source": pairs[1]})
        for source, part in table.groupby("source", sort=False):
            with torch.no_grad():  # without it the released code would only be slower
                estime.evaluate_claims(source, list(part["summary"]))

    return run


@contextmanager
def saved(model: str) -> Iterator[tuple[str, int]]:
    """A folder with a bundled encoder, for programs that do not know its int8 weights, and the layer that ESTIME
    reads.
    """
    with tempfile.TemporaryDirectory() as folder:
        pretrained = load_pretrained(model, None, torch.float32)
        pretrained.save(folder)
        yield folder, pretrained.info.layer


def released_code() -> ModuleType | None:
    """The file ``blanc/estime.py`` alone, since its package does not import with current versions
    of ``transformers``; ``None`` if it is not installed.
    """
    package = importlib.util.find_spec("blanc")
    folders = (package.submodule_search_locations or ()) if package else ()
    files = (Path(folder) / "estime.py" for folder in folders)
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        return None
    spec = importlib.util.spec_from_file_location("blanc_estime", file)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    transformers.utils.logging.set_verbosity_error()  # importing it sets the level
    module.word_tokenize = split_words
    module.nltk = type("nltk", (), {"pos_tag": staticmethod(_no_tags)})
    module.BertTokenizer = transformers.AutoTokenizer
    released_module: ModuleType = module
    return released_module


def _no_tags(words: list[str]) -> list[tuple[str, str]]:
    return [(word, "X") for word in words]
