"""Trains a summarizer with Lightning, logs ESTIME and ROUGE, and keeps the most consistent
checkpoint.

Checkpoints are selected by `inconsistency`: lower is better. A blank summary has the worst value, and
with `min_tokens` each token that a summary lacks to half the references' mean length counts as a new
word. Longer copies of the source, and loops of its words, still win, so `repetition`,
`copied_density`, ROUGE and the length are logged too.

With `--tensorboard` it also shows the worst summaries of each epoch.

By default it trains a very small model from scratch on generated texts, offline; `--model` loads a
real one from the Hub. Prints one line of JSON.

    python docs/examples/lightning_seq2seq.py --plot curve.svg
    python docs/examples/lightning_seq2seq.py --validate runs/last.ckpt --devices 2
    torchrun --nproc-per-node 2 docs/examples/lightning_seq2seq.py --devices 2
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import TensorBoardLogger
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch.utils.data import DataLoader
from torchmetrics import MetricCollection
from torchmetrics.text import ROUGEScore
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from estime_metric import ESTIME, EstimeScorer, Explanation

#: What selects the checkpoint, and what is logged in addition.
SELECTED = "inconsistency"
WATCHED = (
    SELECTED,
    "repetition",
    "copied_density",
    "new_words",
    "new_names",
    "new_numbers",
    "tokens",
    "blank",
    "rougeL_fmeasure",
)

#: How many summaries of an epoch are shown.
SHOWN = 3

#: The words of the generated texts: who did what to which thing.
WORDS = [
    ["Anna", "Peter", "Maria", "Thomas", "Clara", "David", "Emma", "Felix"],
    ["bought", "sold", "painted", "repaired", "found", "opened", "closed", "moved"],
    ["red", "old", "small", "green", "tall", "new", "white", "quiet"],
    ["boat", "house", "bridge", "school", "garden", "museum", "tower", "mill"],
]


class Summarizer(lightning.LightningModule):
    """An encoder-decoder that is judged on the consistency of what it writes, summaries of at most
    ``length`` tokens.

    ``model`` is on the Hub or in a folder; ``None`` makes a very small one with random weights.
    ``encoder`` is ESTIME's, and ``min_tokens`` its option.
    """

    def __init__(
        self,
        model: str | None = None,
        encoder: str = "embedded",
        length: int = 12,
        min_tokens: int | None = None,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.tokenizer = word_tokenizer() if model is None else AutoTokenizer.from_pretrained(model)
        self.model = (
            tiny_model(self.tokenizer)
            if model is None
            else AutoModelForSeq2SeqLM.from_pretrained(model)
        )
        # A value for each summary, so that the worst can be shown.
        estime = ESTIME(model=encoder, min_tokens=min_tokens, return_dict=True, reduction=None)
        self.metrics = MetricCollection(
            {"estime": estime, "rouge": ROUGEScore(rouge_keys="rougeL")}
        )
        self.worst: list[tuple[float, str, str]] = []  # of the epoch: value, summary, source
        self.epochs: list[dict[str, float]] = []

    def training_step(self, batch: dict[str, Any], _: int) -> torch.Tensor:
        """The loss of a batch of pairs."""
        labels = self._tokens(batch["summary"])["input_ids"]
        labels = labels.masked_fill(labels == self.tokenizer.pad_token_id, -100)
        loss: torch.Tensor = self.model(**self._tokens(batch["source"]), labels=labels).loss
        return loss

    def validation_step(self, batch: dict[str, Any], _: int) -> None:
        """Writes summaries and judges them by their sources (ESTIME) and by the references (ROUGE)."""
        summaries, sources, ids = self.write(batch), batch["source"], batch["id"]
        values = self.metrics(preds=summaries, target=batch["summary"], sources=sources, ids=ids)
        of_id = dict(zip(ids.tolist(), zip(summaries, sources, strict=True), strict=True))
        for value, number in zip(values[SELECTED].tolist(), sorted(of_id), strict=True):
            self.worst.append((value, *of_id[number]))
        self.worst = sorted(self.worst, reverse=True)[:SHOWN]

    def on_validation_epoch_end(self) -> None:
        """Logs the values of the epoch, of all processes together, and shows the worst summaries of
        the first process.
        """
        values = self.metrics.compute()
        self.metrics.reset()
        logged = {name: values[name].nanmean() for name in WATCHED}
        logged["blank"] = values["blank"].sum()
        if self.logger and self.trainer.is_global_zero and not self.trainer.sanity_checking:
            scorer = EstimeScorer(self.metrics["estime"].config)
            explanations = [scorer.explain(*pair) for _, *pair in self.worst]
            text = "\n\n".join(map(as_markdown, explanations))
            step = max(self.global_step - 1, 0)  # of the curves
            self.logger.experiment.add_text("val/worst", text, step)
        self.worst = []
        self.log_dict({f"val/{name}": value for name, value in logged.items()}, sync_dist=True)
        if not self.trainer.sanity_checking:
            self.epochs.append({name: float(value) for name, value in logged.items()})

    def write(self, batch: dict[str, Any]) -> list[str]:
        """Summaries of the sources in a batch."""
        written = self.model.generate(
            **self._tokens(batch["source"]), max_new_tokens=self.hparams["length"], do_sample=False
        )
        summaries: list[str] = self.tokenizer.batch_decode(written, skip_special_tokens=True)
        return summaries

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The encoder of ESTIME is not among the parameters."""
        return torch.optim.AdamW(
            self.parameters(), lr=3e-3 if self.hparams["model"] is None else 5e-5
        )

    def _tokens(self, texts: list[str]) -> dict[str, torch.Tensor]:
        tokens = self.tokenizer(
            texts, max_length=512, truncation=True, padding=True, return_tensors="pt"
        )
        return {name: tokens[name].to(self.device) for name in ("input_ids", "attention_mask")}


def as_markdown(explanation: Explanation) -> str:
    """Inconsistency and summary in a line, the words that are likeliest wrong in bold."""
    summary, text, end = explanation.prediction, "", 0
    for word in sorted(explanation.surest_words(), key=lambda word: word.start):
        text += f"{summary[end : word.start]}**{summary[word.start : word.end]}**"
        end = word.end
    return " ".join(f"{explanation.inconsistency:.2f}: {text}{summary[end:]}".split())


def word_tokenizer() -> PreTrainedTokenizerFast:
    """A token for each word of the generated texts."""
    tokens = [
        "<pad>",
        "<s>",
        "</s>",
        "<unk>",
        "the",
        ".",
        *(word for words in WORDS for word in words),
    ]
    words = Tokenizer(
        models.WordLevel({token: number for number, token in enumerate(tokens)}, unk_token="<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 2)]
    )
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=words, **names)


def tiny_model(tokenizer: PreTrainedTokenizerFast) -> BartForConditionalGeneration:
    """One layer on each side, random weights."""
    sides = {
        f"{side}_{name}": number
        for side in ("encoder", "decoder")
        for name, number in (("layers", 1), ("attention_heads", 4), ("ffn_dim", 128))
    }
    ends = {"pad_token_id": 0, "bos_token_id": 1, "decoder_start_token_id": 1, "eos_token_id": 2}
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=64,
            dropout=0.0,
            forced_eos_token_id=None,
            **sides,
            **ends,
        )
    )


def pairs(how_many: int, seed: int) -> list[dict[str, Any]]:
    """Sources of three sentences; the summary is the first without its adjective."""
    chance = random.Random(seed)
    rows = []
    for number in range(how_many):
        facts = list(zip(*(chance.sample(words, 3) for words in WORDS), strict=True))
        source = " ".join(f"{who} {did} the {kind} {thing}." for who, did, kind, thing in facts)
        who, did, _, thing = facts[0]
        rows.append({"id": number, "source": source, "summary": f"{who} {did} the {thing}."})
    return rows


def half_length(rows: list[dict[str, Any]], encoder: str) -> int:
    """Half the mean length of the reference summaries, in tokens of ESTIME's encoder."""
    references, sources = ([row[name] for row in rows] for name in ("summary", "source"))
    return int(EstimeScorer(model=encoder).score(references, sources).mean("tokens") / 2)


def plot(epochs: list[dict[str, float]], file: Path) -> None:
    """Draws what was logged after each epoch, and marks the epoch whose checkpoint is kept."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")
    numbers = range(1, len(epochs) + 1)
    for name, label in (
        (SELECTED, f"{SELECTED}: lower is better"),
        ("rougeL_fmeasure", "ROUGE-L: higher is better"),
    ):
        axis.plot(numbers, [epoch[name] for epoch in epochs], marker=".", label=label)
    best = min(numbers, key=lambda number: epochs[number - 1][SELECTED])
    axis.axvline(best, color="grey", linestyle=":", label="checkpoint kept")
    axis.set(xlabel="epoch", ylim=(-0.03, 1.03))
    axis.legend()
    figure.savefig(file)


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Trains, or validates a checkpoint; returns and prints what came out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", help="encoder-decoder to fine-tune; default: a very small one from scratch"
    )
    parser.add_argument("--encoder", default="embedded", help="ESTIME's encoder")
    parser.add_argument("--training", type=int, default=256, help="pairs to train on")
    parser.add_argument(
        "--validation", type=int, default=32, help="pairs to validate on, which no training sees"
    )
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--accelerator", default="auto")
    parser.add_argument("--precision", default="32-true")
    parser.add_argument("--folder", type=Path, default=Path("runs"))
    parser.add_argument("--plot", type=Path, help="file for the curve; its ending is the format")
    parser.add_argument(
        "--tensorboard", action="store_true", help="log to the folder (pip install tensorboard)"
    )
    parser.add_argument("--resume", help="checkpoint to resume from")
    parser.add_argument("--validate", help="checkpoint to validate only")
    options = parser.parse_args(arguments)

    lightning.seed_everything(0, verbose=False)
    unseen = pairs(options.validation, seed=1)
    min_tokens = half_length(unseen, options.encoder)
    model = Summarizer(options.model, options.encoder, min_tokens=min_tokens)
    watched = {"monitor": f"val/{SELECTED}", "mode": "min"}  # lower is better
    best = ModelCheckpoint(options.folder, "best", **watched, enable_version_counter=False)
    last = ModelCheckpoint(
        options.folder, "last", enable_version_counter=False
    )  # to resume from, after every epoch
    trainer = lightning.Trainer(
        accelerator=options.accelerator,
        devices=options.devices,
        strategy="ddp" if options.devices > 1 else "auto",
        precision=options.precision,
        max_epochs=options.epochs,
        callbacks=[best, last, EarlyStopping(**watched, patience=10)],
        default_root_dir=options.folder,
        logger=TensorBoardLogger(options.folder, name=None) if options.tensorboard else False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    validation = DataLoader(unseen, batch_size=options.batch)
    if options.validate:
        trainer.validate(model, validation, ckpt_path=options.validate, verbose=False)
    else:
        training = DataLoader(
            pairs(options.training, seed=0), batch_size=options.batch, shuffle=True
        )
        trainer.fit(model, training, validation, ckpt_path=options.resume)
    outcome = {
        **{f"val/{name}": float(trainer.callback_metrics[f"val/{name}"]) for name in WATCHED},
        "best": best.best_model_path,
        "epochs": trainer.current_epoch,
        "signature": model.metrics["estime"].signature,
    }
    if trainer.is_global_zero:
        print(json.dumps(outcome))
        if options.plot:
            plot(model.epochs, options.plot)
    return outcome


if __name__ == "__main__":
    main()
