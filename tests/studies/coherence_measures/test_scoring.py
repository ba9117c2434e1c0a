"""Coherence measures by their names; BARTScore token by token, the entity graph by hand and against
a naive version.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from estime_metric.studies.coherence_measures.bartscore import bart_scores
from estime_metric.studies.coherence_measures.entity_graph import content_words, entity_graph
from estime_metric.studies.coherence_measures.scoring import CoherenceOptions, coherence_scores
from tests.families import SENTENCES, make_tokenizer

POSITIONS = 96


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small random BART with a tokenizer trained on the test's sentences."""
    path = tmp_path_factory.mktemp("bart")
    tokenizer = make_tokenizer("roberta", size=400)
    tokenizer.save_pretrained(path)
    torch.manual_seed(0)
    config = transformers.BartConfig(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.sep_token_id,
        bos_token_id=tokenizer.cls_token_id,
        decoder_start_token_id=tokenizer.sep_token_id,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=POSITIONS,
        init_std=0.4,
    )
    transformers.BartForConditionalGeneration(config).save_pretrained(path)
    return str(path)


SUMMARIES = [SENTENCES[3], "The bridge", "", SENTENCES[7], "River!"]
SOURCES = [SENTENCES[2], " ".join(SENTENCES[3:5]), SENTENCES[0], "It", SENTENCES[3]]


def naive(loaded: tuple, summary: str, source: str) -> float:
    """One pair, one token at a time: the chance of each given those before it."""
    tokenizer, model = loaded
    target = tokenizer(summary)["input_ids"]
    encoded = torch.tensor([tokenizer(source)["input_ids"]])
    before = [model.config.decoder_start_token_id]
    total = 0.0
    for token in target:
        with torch.no_grad():
            logits = (
                model(input_ids=encoded, decoder_input_ids=torch.tensor([before]))
                .logits[0, -1]
                .double()
            )
        total += float(logits[token] - torch.logsumexp(logits, dim=0))
        before.append(token)
    return total / len(target)


def load(folder: str) -> tuple:
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


def test_agrees_with_the_chance_of_each_token_by_itself(bart: str) -> None:
    loaded = load(bart)
    expected = [naive(loaded, *pair) for pair in zip(SUMMARIES, SOURCES, strict=True)]
    assert np.ptp(expected) > 0.1  # the test could distinguish them
    for size in (1, 8):
        computed = bart_scores(SUMMARIES, SOURCES, bart, device="cpu", batch_size=size)
        np.testing.assert_allclose(computed, expected, rtol=0, atol=2e-4)


def test_too_long_a_text_is_refused_or_cut_and_told(bart: str) -> None:
    long = " ".join(SENTENCES)
    strict = partial(bart_scores, model=bart, device="cpu")
    with pytest.raises(
        ValueError, match=rf"`sources` .* at most {POSITIONS} tokens, .* the one at index 1 has \d+"
    ):
        strict(["a", "b"], ["short", long])
    with pytest.raises(ValueError, match=r"`summaries` .* but the one at index 0 has"):
        strict([long, "b"], ["short", "short"])
    computed = strict(["a", "b", long], ["short", long, "short"], truncate=True)
    assert np.isfinite(computed).all()
    assert computed[0] == pytest.approx(strict(["a"], ["short"])[0], abs=1e-4)


def test_each_name_is_its_measure(bart: str) -> None:
    options = CoherenceOptions(bartscore_model=bart, device="cpu", seed=5)
    names = ["entity_graph", "length", "random", "bartscore"]
    computed = coherence_scores(SUMMARIES, names, sources=SOURCES, options=options)
    expected = {
        "entity_graph": [entity_graph(text) for text in SUMMARIES],
        "length": [len(text) for text in SUMMARIES],
        "random": np.random.default_rng(5).uniform(size=len(SUMMARIES)),
        "bartscore": bart_scores(SUMMARIES, SOURCES, bart, device="cpu"),
    }
    assert list(computed) == names
    for name in names:
        np.testing.assert_array_equal(computed[name], expected[name])
    assert all(len(scores) == 0 for scores in coherence_scores([], names[:3]).values())


def test_the_example_worked_by_hand() -> None:
    # s1-s2: judge and company, one apart; s1-s4: judge, three apart; s2-s4: judge and gifts, two apart;
    # s3 has no edge. Outdegrees 2 + 1/3, 1, 0, 0 over 4 sentences.
    text = "judge company\ncompany gifts judge\nriver\njudge gifts"
    assert entity_graph(text) == pytest.approx((2 + 1 / 3 + 1) / 4)


def naive_graph(sentences: list[set[str]]) -> float:
    """Through the bipartite graph of sentences and entities, edge by edge."""
    bipartite = [(index, entity) for index, entities in enumerate(sentences) for entity in entities]
    edges = [
        1 / (later - index)
        for (index, entity), (later, other) in itertools.product(bipartite, repeat=2)
        if other == entity and later > index
    ]
    return sum(edges) / len(sentences)


@settings(deadline=None)
@given(st.lists(st.sets(st.sampled_from(["judge", "gifts", "river"])), min_size=1, max_size=7))
def test_agrees_with_a_naive_version(sentences: list[set[str]]) -> None:
    text = "\n".join(" ".join([*words, "."]) for words in sentences)
    assert entity_graph(text) == pytest.approx(naive_graph(sentences))


def test_entities_and_texts_without_edges() -> None:
    assert [entity_graph(text) for text in ("", " ", "One sentence only.", "It was. He did.")] == [
        0,
        0,
        0,
        0,
    ]
    assert content_words("He said that 12 U.S. judge's cars won't go.") == {"u.s", "judge", "cars"}
