"""Small random-weight encoders of every family that is supported, each with a real tokenizer of its
kind.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import torch
import transformers
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

#: Sentences that the tokenizers are trained on and that the small tests are made of.
SENTENCES = (
    "The cat sat on the mat while the dog slept in the garden behind the house.",
    "A judge in the city has ordered the company to pay back more than two million dollars in gifts.",
    "Heavy rain fell over the hills on Monday, and the river rose by almost a metre before the evening.",
    "The river broke its banks in the night; the mayor asked people near the old bridge to leave their homes.",
    "Nobody was hurt, but the bridge, built in 1874, will stay closed until the spring.",
    "Engineers said that the repair would cost about 3.5 million, more than the town has in a year.",
    "The team won by two goals to one after a late header by its captain, who had come back from injury.",
    'Her manager said: "We were not the better side today, but we did not give up."',
    "Scientists found that bees remember the colour of a flower for days, and that they teach each other.",
    "The study, which ran for four years, followed nine hundred bees in three gardens near the coast.",
    "It is not yet known whether wild bees learn in the same way, the authors wrote.",
    "The museum bought the painting for a small sum, long before anyone knew who had made it.",
    "Last week an expert found the name of the painter under a layer of dirt in the corner.",
    "The price of bread has gone up for the third month in a row because of the poor harvest in the south.",
    "Farmers there had asked for help in the summer, when no rain fell for seven weeks.",
    "A new train will link the two towns from next year; it takes forty minutes, half as long as the bus.",
    "Some people who live by the line fear the noise, others hope that fewer cars will be on the road.",
    "The captain of the ship saw the light at midnight and turned to the north, too late to miss the rock.",
    "All nineteen sailors were taken off by a fishing boat which had heard the call for help.",
    "The school gave each child a tree to plant; after ten years there is a wood where there was a field.",
)


DETERMINERS = ("a", "an", "the")


def toy_tagger(words: list[str]) -> list[str]:
    return ["DT" if word.lower() in DETERMINERS else "X" for word in words]


def make_pairs(*ranges: tuple[int, int]) -> list[tuple[str, str]]:
    """Sixteen pairs (summary, source), faithful and unfaithful, of the first two sentences and of
    these ranges.
    """
    rng = random.Random(1)
    sources = [" ".join(SENTENCES[start:end]) for start, end in ((0, 2), *ranges)]
    words = " ".join(SENTENCES).split()
    made = []
    for number in range(16):
        source = sources[number % len(sources)]
        own = source.split()
        start = rng.randrange(max(1, len(own) - 25))
        summary = own[start : start + rng.randrange(3, 25)]
        for _ in range(number // 3):  # some words from elsewhere
            summary[rng.randrange(len(summary))] = rng.choice(words)
        made.append((" ".join(summary), source))
    return made


#: Names of the families, in the order in which tests run over them.
FAMILIES: tuple[str, ...] = (
    "bert",
    "roberta",
    "albert",
    "distilbert",
    "electra",
    "mpnet",
    "deberta",
    "deberta-v2",
)
if (
    int(transformers.__version__.split(".")[0]) >= 5
):  # below it, the last block of ModernBERT is refused
    FAMILIES += ("modernbert",)

#: Families whose tokenizers represent all kinds: WordPiece, byte-level BPE, Unigram.
TOKENIZERS = ("bert", "roberta", "albert")

#: Families with one group of weights for all blocks: no block can be taken off.
SHARED_WEIGHTS = ("albert",)

BLOCKS = 4
WIDTH = 32
POSITIONS = 512


def wordpiece(size: int, **special: str) -> Tokenizer:
    """A lower-casing WordPiece tokenizer, as BERT has one; always the same."""
    tokenizer = Tokenizer(models.WordPiece(unk_token=special["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    # The trainer numbers the characters inside words in a random order and breaks ties by number:
    # give them to it.
    characters = sorted(
        {
            f"##{character}"
            for text in SENTENCES
            for character in tokenizer.normalizer.normalize_str(text)
        }
    )
    trained = Tokenizer.from_str(tokenizer.to_str())
    first = [*_listed(special), *characters]
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=first, show_progress=False)
    trained.train_from_iterator(SENTENCES, trainer)
    vocabulary = trained.get_vocab()
    tokenizer.model = models.WordPiece(vocab=vocabulary, unk_token=special["unk_token"])
    tokenizer.add_special_tokens(_listed(special))
    return tokenizer


def byte_level(size: int, **special: str) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = {
        "initial_alphabet": pre_tokenizers.ByteLevel.alphabet(),
        "special_tokens": _listed(special),
    }
    tokenizer.train_from_iterator(
        SENTENCES, trainers.BpeTrainer(vocab_size=size, show_progress=False, **alphabet)
    )
    return tokenizer


def unigram(size: int, **special: str) -> Tokenizer:
    """A Unigram tokenizer in the manner of SentencePiece, as ALBERT has one; always the same."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    first = _listed(special)
    how = {"unk_token": special["unk_token"], "show_progress": False}
    tokenizer.train_from_iterator(
        SENTENCES, trainers.UnigramTrainer(vocab_size=size, special_tokens=first, **how)
    )
    # The trainer sums in a random order: last digits, and with them the order of pieces, differ
    # from run to run.
    scores = {
        piece: round(score, 2) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]
    }
    pieces = [*first, *sorted(set(scores) - set(first))]
    vocabulary = [(piece, scores[piece]) for piece in pieces]
    tokenizer.model = models.Unigram(
        vocabulary, unk_id=pieces.index(special["unk_token"]), byte_fallback=False
    )
    return tokenizer


def _listed(special: dict[str, str]) -> list[str]:
    return list(dict.fromkeys(special.values()))


_BERT = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
_ROBERTA = {
    "cls_token": "<s>",
    "pad_token": "<pad>",
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}
_MPNET = {**_ROBERTA, "unk_token": "[UNK]"}
_ALBERT = {**_BERT, "pad_token": "<pad>", "unk_token": "<unk>"}

#: family -> how to train its tokenizer, its special tokens, its tokenizer's class on the Hub.
_TOKENIZERS = {
    "bert": (wordpiece, _BERT, "BertTokenizer"),
    "roberta": (byte_level, _ROBERTA, "RobertaTokenizer"),
    "albert": (unigram, _ALBERT, "AlbertTokenizer"),
    "distilbert": (wordpiece, _BERT, "DistilBertTokenizer"),
    "electra": (wordpiece, _BERT, "ElectraTokenizer"),
    "mpnet": (wordpiece, _MPNET, "MPNetTokenizer"),
    "deberta": (byte_level, _BERT, "DebertaTokenizer"),
    "deberta-v2": (unigram, _BERT, "DebertaV2Tokenizer"),
    "modernbert": (byte_level, _BERT, "PreTrainedTokenizerFast"),
}


def make_tokenizer(family: str, size: int = 500) -> transformers.PreTrainedTokenizerFast:
    train, special, _ = _TOKENIZERS[family]
    tokenizer = train(size, **special)
    start, end = special["cls_token"], special["sep_token"]
    numbers = [(end, tokenizer.token_to_id(end)), (start, tokenizer.token_to_id(start))]
    if family in ("roberta", "mpnet"):
        tokenizer.post_processor = processors.RobertaProcessing(
            *numbers, trim_offsets=True, add_prefix_space=False
        )
    elif family in ("bert", "distilbert", "electra"):
        tokenizer.post_processor = processors.BertProcessing(*numbers)
    else:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{start} $A {end}",
            pair=f"{start} $A {end} $B:1 {end}:1",
            special_tokens=numbers,
        )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=POSITIONS, **special
    )


def make_config(family: str, tokenizer: transformers.PreTrainedTokenizerFast, **changes: object):
    """A small configuration with weights wide enough apart that embeddings differ."""
    common = {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "num_hidden_layers": BLOCKS,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.3,
        "pad_token_id": tokenizer.pad_token_id,
    }
    relative = {
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "position_biased_input": False,
        "type_vocab_size": 0,
        "max_relative_positions": -1,
    }
    own: dict[str, object] = {
        "roberta": {"max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1},
        "mpnet": {"max_position_embeddings": POSITIONS + 2},
        "albert": {"embedding_size": 16},
        "electra": {"embedding_size": 16},
        "deberta": relative,
        "deberta-v2": relative
        | {"position_buckets": 64, "share_att_key": True, "norm_rel_ebd": "layer_norm"},
        "modernbert": {
            "global_attn_every_n_layers": 2,
            "local_attention": 16,
            "reference_compile": None,
            "cls_token_id": tokenizer.cls_token_id,
            "sep_token_id": tokenizer.sep_token_id,
            "bos_token_id": tokenizer.cls_token_id,
            "eos_token_id": tokenizer.sep_token_id,
            "initializer_cutoff_factor": 3.0,
        },
    }.get(family, {})
    return transformers.AutoConfig.for_model(family, **{**common, **own, **changes})


def save_encoder(
    folder: Path,
    family: str,
    tokenizer: transformers.PreTrainedTokenizerFast | None = None,
    seed: int = 0,
    **changes: object,
) -> Path:
    """Saves a small masked language model with random weights as a folder that ``from_pretrained``
    reads.
    """
    tokenizer = tokenizer or make_tokenizer(family)
    config = make_config(family, tokenizer, **changes)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = transformers.AutoModelForMaskedLM.from_config(config)
        for (
            name,
            weight,
        ) in (
            model.named_parameters()
        ):  # as trained weights: no norm is the identity, no bias is zero
            if weight.ndim == 1:
                torch.nn.init.normal_(
                    weight.data, mean=1.0 if "orm.weight" in name else 0.0, std=0.2
                )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    stated = folder / "tokenizer_config.json"
    settings = json.loads(stated.read_text(encoding="utf-8"))
    settings["tokenizer_class"] = _TOKENIZERS.get(family, _TOKENIZERS["bert"])[2]  # others: as BERT
    stated.write_text(json.dumps(settings, indent=2), encoding="utf-8")
    return folder
