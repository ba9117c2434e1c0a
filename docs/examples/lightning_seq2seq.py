"""Fine-tunes a summarizer with Lightning, watches ESTIME and ROUGE, and keeps the most consistent checkpoint.

Checkpoints are selected by `unsupported_rate`, the share of a summary's tokens that its source does not support: blank,
foreign or broken summaries lose. Copying the source wins, so ROUGE and the length are logged beside it.

Trains a very small model from scratch on the package's example pairs, so it runs offline in a minute and writes poor
summaries; `--model` takes a real one from the Hub. Prints one line of JSON.

    python docs/examples/lightning_seq2seq.py
    python docs/examples/lightning_seq2seq.py --validate runs/last.ckpt --devices 2
    torchrun --nproc-per-node 2 docs/examples/lightning_seq2seq.py --devices 2
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch.utils.data import DataLoader
from torchmetrics import MetricCollection
from torchmetrics.text import ROUGEScore
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, BartConfig, BartForConditionalGeneration

from estime_metric import ESTIME, embedded, examples

#: What is logged of each epoch: tokens that the source does not support and their share, how much was checked, and, to
#: see whether the model only copies, length and ROUGE against the reference summaries.
WATCHED = ("unsupported_rate", "unsupported", "alarms", "coverage", "tokens", "rougeL_fmeasure")


class Summarizer(lightning.LightningModule):
    """An encoder-decoder that is judged on the consistency of what it writes.

    Args:
        model: an encoder-decoder on the Hub or in a folder; ``None`` makes a very small one with random weights.
        encoder: ESTIME's encoder.
        cache: keeps ESTIME's source embeddings from epoch to epoch: bytes of memory, or a folder.
        words: most tokens of a summary.
    """

    def __init__(
        self, model: str | None = None, encoder: str = "embedded-small", cache: int | str = 10**9, words: int = 24
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.tokenizer = AutoTokenizer.from_pretrained(model or embedded.SMALL)
        self.model = _tiny_model(self.tokenizer) if model is None else AutoModelForSeq2SeqLM.from_pretrained(model)
        self.words = words
        self.metrics = MetricCollection(
            {"estime": ESTIME(model=encoder, cache=cache, return_dict=True), "rouge": ROUGEScore(rouge_keys="rougeL")}
        )

    def training_step(self, batch: dict[str, Any], _: int) -> torch.Tensor:
        """The loss of a batch of pairs."""
        labels = self._tokens(batch["summary"], self.words)["input_ids"]
        labels = labels.masked_fill(labels == self.tokenizer.pad_token_id, -100)
        loss: torch.Tensor = self.model(**self._tokens(batch["source"], 256), labels=labels).loss
        self.log("train/loss", loss, batch_size=len(labels))
        return loss

    def validation_step(self, batch: dict[str, Any], _: int) -> None:
        """Writes summaries and judges them by their sources (ESTIME) and by the references (ROUGE)."""
        self.metrics.update(preds=self.write(batch), target=batch["summary"], sources=batch["source"], ids=batch["id"])

    def on_validation_epoch_end(self) -> None:
        """Logs the values of the epoch, of all processes together."""
        values = self.metrics.compute()
        self.metrics.reset()
        self.log_dict({f"val/{name}": values[name] for name in WATCHED}, sync_dist=True)

    def write(self, batch: dict[str, Any]) -> list[str]:
        """Summaries of the sources in a batch."""
        written = self.model.generate(
            **self._tokens(batch["source"], 256), max_new_tokens=self.words, no_repeat_ngram_size=2, do_sample=False
        )
        summaries: list[str] = self.tokenizer.batch_decode(written, skip_special_tokens=True)
        return summaries

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """The encoder of ESTIME is not among the parameters."""
        return torch.optim.AdamW(self.parameters(), lr=5e-3)

    def _tokens(self, texts: list[str], length: int) -> dict[str, torch.Tensor]:
        tokens = self.tokenizer(texts, max_length=length, truncation=True, padding=True, return_tensors="pt")
        return {name: tokens[name].to(self.device) for name in ("input_ids", "attention_mask")}


def _tiny_model(tokenizer: Any) -> BartForConditionalGeneration:
    ends = {"pad_token_id": tokenizer.pad_token_id, "bos_token_id": tokenizer.cls_token_id}
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer), d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=512,
            eos_token_id=tokenizer.sep_token_id, decoder_start_token_id=tokenizer.cls_token_id,
            forced_eos_token_id=None, **ends,
        )
    )  # fmt: skip


def pairs(how_many: int) -> list[dict[str, Any]]:
    """The first of the package's example pairs, numbered."""
    lines = examples.PATH.read_text(encoding="utf-8").splitlines()[:how_many]
    rows = [json.loads(line) for line in lines]
    return [{"id": index, "source": row["source"], "summary": row["summary"]} for index, row in enumerate(rows)]


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Trains, or validates a checkpoint; returns and prints what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="encoder-decoder to fine-tune; a very small one from scratch if left out")
    parser.add_argument("--encoder", default="embedded-small", help="ESTIME's encoder")
    parser.add_argument("--cache", default=10**9, type=lambda text: int(text) if text.isdigit() else text)
    parser.add_argument("--examples", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--accelerator", default="auto")
    parser.add_argument("--precision", default="32-true")
    parser.add_argument("--folder", type=Path, default=Path("runs"))
    parser.add_argument("--resume", help="checkpoint to go on from")
    parser.add_argument("--validate", help="checkpoint to validate only")
    options = parser.parse_args(arguments)

    lightning.seed_everything(0, verbose=False)
    rows = pairs(options.examples)
    model = Summarizer(options.model, options.encoder, options.cache)
    watched = {"monitor": "val/unsupported_rate", "mode": "min"}  # lower is better
    best = ModelCheckpoint(options.folder, "best", **watched, enable_version_counter=False)
    last = ModelCheckpoint(options.folder, "last", enable_version_counter=False)  # to resume from, after every epoch
    # An epoch of blank summaries is NaN: the checkpoint takes it for the worst, and training goes on.
    patience = EarlyStopping(**watched, patience=10, check_finite=False)
    trainer = lightning.Trainer(
        accelerator=options.accelerator,
        devices=options.devices,
        strategy="ddp" if options.devices > 1 else "auto",
        precision=options.precision,
        max_epochs=options.epochs,
        callbacks=[best, last, patience],
        default_root_dir=options.folder,
        logger=False,
        log_every_n_steps=1,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    validation = DataLoader(rows, batch_size=options.batch)
    if options.validate:
        trainer.validate(model, validation, ckpt_path=options.validate, verbose=False)
    else:
        training = DataLoader(rows, batch_size=options.batch, shuffle=True)
        trainer.fit(model, training, validation, ckpt_path=options.resume)
    outcome = {
        **{f"val/{name}": float(trainer.callback_metrics[f"val/{name}"]) for name in WATCHED},
        "best": best.best_model_path,
        "epochs": trainer.current_epoch,
        "signature": model.metrics["estime"].signature,
    }
    if trainer.is_global_zero:
        print(json.dumps(outcome))
    return outcome


if __name__ == "__main__":
    main()
