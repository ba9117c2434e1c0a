"""Tiny random models, with which the examples for the Trainer and TRL run in seconds."""

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)


def make_tokenizer(texts, **options):
    """A token for each word of the texts."""
    words = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["[PAD]", "[EOS]", "[UNK]"]
    words.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=special))
    names = dict(zip(("pad_token", "eos_token", "unk_token"), special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=words, **names, **options)


def make_seq2seq(texts):
    """An encoder-decoder and its tokenizer."""
    tokenizer = make_tokenizer(texts)
    sizes = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2}
    ids = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    config = T5Config(vocab_size=len(tokenizer), **sizes, **ids)
    return T5ForConditionalGeneration(config), tokenizer


def make_causal(texts):
    """A language model and its tokenizer."""
    tokenizer = make_tokenizer(texts, padding_side="left")
    sizes = {"n_embd": 32, "n_layer": 1, "n_head": 2, "n_positions": 128}
    config = GPT2Config(vocab_size=len(tokenizer), bos_token_id=1, eos_token_id=1, **sizes)
    return GPT2LMHeadModel(config), tokenizer
