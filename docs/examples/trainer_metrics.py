"""ESTIME as `compute_metrics` of a Seq2SeqTrainer: pip install estime-metric accelerate"""


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
        return {
            "inconsistency": result.mean("inconsistency"),
            "alarms": result.mean("alarms"),
            "copied_density": result.mean("copied_density"),
            "blank": len(result.blank_indices),
        }

    return compute_metrics
