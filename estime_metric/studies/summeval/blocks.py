"""The measures of the paper's tables beside ESTIME that can be computed here, and trivial ones."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from estime_metric.inputs import check_choice
from estime_metric.studies.shared import baselines
from estime_metric.studies.shared.baselines import Advance
from estime_metric.studies.shared.bertscore import NAMES, BertScorer
from estime_metric.studies.shared.estime_paper import REFERENCE_BASED as PAPER_ORDER
from estime_metric.studies.shared.scoring import (
    REFERENCE_BASED,
    REFERENCE_FREE,
    TRIVIAL,
    Block,
    Columns,
    Measure,
    Prepared,
)
from estime_metric.studies.summeval.data import SummEval


def baseline_blocks(
    *, combine: str = "mean", bert_model: str | None, bert_layer: int | None = None, device: str | None = None
) -> list[Block]:
    """The other measures.

    Args:
        combine: how several references become one value, for ROUGE and BERTScore, see `baselines.COMBINE`; BLEU reads
            all at once, but the first alone with ``"first"``.
        bert_model: the encoder of BERTScore, ``None`` for no BERTScore.
        bert_layer: its layer, as in `BertScorer`.
        device: as in `EstimeConfig`.

    Raises:
        ValueError: ``combine`` is unknown.
    """
    check_choice("combine", combine, baselines.COMBINE)

    def bert() -> Prepared:
        scorer = BertScorer(str(bert_model), layer=bert_layer, device=device)

        def compute(data: SummEval, advance: Advance) -> Columns:
            return _columns(scorer.score(data.summaries, data.references_of_each, combine=combine, advance=advance))

        return Prepared(f"{scorer.signature}|references:{combine}", compute)

    def bleu(data: SummEval, advance: Advance) -> Columns:
        first = combine == "first"
        return {"bleu": baselines.bleu(data.summaries, data.references_of_each, first=first, advance=advance)}

    def rouge(data: SummEval, advance: Advance) -> Columns:
        return _columns(baselines.rouge(data.summaries, data.references_of_each, combine=combine, advance=advance))

    def divergence(data: SummEval, _: Advance) -> Columns:
        return {"jensen_shannon": baselines.jensen_shannon(data.summaries, data.source_of_each)}

    def trivial(data: SummEval, _: Advance) -> Columns:
        return {
            "length": baselines.length(data.summaries),
            "absent_words": baselines.absent_words(data.summaries, data.source_of_each),
        }

    versions = {name: f"version:{name} {_version(name)}" for name in ("scipy", "sacrebleu", "rouge-score")}
    return [
        Block(
            "Jensen-Shannon",
            (Measure("jensen_shannon", "(-)J-Shannon", REFERENCE_FREE, lower_is_better=True),),
            lambda: Prepared(f"JS|words:lower-case|base:2|{versions['scipy']}", divergence),
        ),
        *([Block("BERTScore", _of_references(NAMES), bert)] if bert_model is not None else []),
        Block(
            "BLEU",
            _of_references(("BLEU",)),
            lambda: Prepared(
                f"BLEU|case:lower|references:{'first' if combine == 'first' else 'all'}|{versions['sacrebleu']}", bleu
            ),
        ),
        Block(
            "ROUGE",
            _of_references(name for name in PAPER_ORDER if name.startswith("ROUGE")),
            lambda: Prepared(f"ROUGE|F1|stemmer:yes|references:{combine}|{versions['rouge-score']}", rouge),
        ),
        Block(
            "Trivial",
            (
                Measure("length", "(-)length", TRIVIAL, lower_is_better=True),
                Measure("absent_words", "(-)absent words", TRIVIAL, lower_is_better=True),
            ),
            lambda: Prepared("TRIVIAL|words:lower-case", trivial),
        ),
    ]


def _of_references(labels: Iterable[str]) -> tuple[Measure, ...]:
    return tuple(Measure(_column(label), label, REFERENCE_BASED) for label in labels)


def _columns(scores: Columns) -> Columns:
    """Names of the tables -> names of columns."""
    return {_column(label): values for label, values in scores.items()}


def _column(label: str) -> str:
    return label.lower().replace("-", "_")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
