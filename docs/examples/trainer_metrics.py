"""ESTIME as `compute_metrics` of a Seq2SeqTrainer: pip install estime-metric accelerate"""

from estime_metric import EstimeScorer

#: Lower is better for `inconsistency`; the others show what changes: loops, copying, new names, length.
LOGGED = ("inconsistency", "repetition", "copied_density", "new_names", "new_numbers", "tokens")


def estime_scorer(references, sources, **options):
    """A scorer for which texts of less than half the references' mean length lose; `options` are
    those of `EstimeScorer`. It encodes each source once, not at each evaluation.
    """
    tokens = EstimeScorer(**options).score(references, sources).mean("tokens")
    return EstimeScorer(min_tokens=int(tokens / 2), cache=1_000_000_000, **options)  # bytes


def estime_compute_metrics(tokenizer, scorer, sources=None):
    """For a trainer with `predict_with_generate=True`; `scorer` is an `EstimeScorer`.

    `sources` are the full texts of the evaluation data, in order. Without them, the inputs that the
    model saw are decoded, which needs `include_for_metrics=["inputs"]` in the training arguments.
    """

    def decoded(rows):
        tokens = [[number for number in row if number >= 0] for row in rows]  # -100 is padding
        return tokenizer.batch_decode(tokens, skip_special_tokens=True)

    def compute_metrics(outputs):
        texts = decoded(outputs.inputs) if sources is None else sources
        result = scorer.score(decoded(outputs.predictions), texts)
        return {name: result.mean(name) for name in LOGGED}

    return compute_metrics
