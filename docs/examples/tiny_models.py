"""Small random models, so that the examples of the guides run anywhere. Put yours in their place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)


def _tokenizer(texts: Iterable[str], **options: Any) -> PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.train_from_iterator(
        texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[EOS]", "[UNK]"])
    )
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "eos_token": "[EOS]"}
    return PreTrainedTokenizerFast(tokenizer_object=words, **special, **options)


def make_seq2seq(
    texts: Iterable[str],
) -> tuple[T5ForConditionalGeneration, PreTrainedTokenizerFast]:
    """An encoder-decoder and its tokenizer, with the words of the texts."""
    tokenizer = _tokenizer(texts)
    sizes = {
        "d_model": 32,
        "d_kv": 16,
        "d_ff": 64,
        "num_layers": 1,
        "num_heads": 2,
        "vocab_size": len(tokenizer),
    }
    config = T5Config(**sizes, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1)
    return T5ForConditionalGeneration(config), tokenizer


def make_causal(texts: Iterable[str]) -> tuple[GPT2LMHeadModel, PreTrainedTokenizerFast]:
    """A decoder and its tokenizer, with the words of the texts."""
    tokenizer = _tokenizer(texts, padding_side="left")
    sizes = {
        "n_embd": 32,
        "n_layer": 1,
        "n_head": 2,
        "n_positions": 128,
        "vocab_size": len(tokenizer),
    }
    return GPT2LMHeadModel(
        GPT2Config(**sizes, bos_token_id=1, eos_token_id=1, pad_token_id=0)
    ), tokenizer
