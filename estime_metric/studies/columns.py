"""What files call the columns of a table with a row per summary, and the systems of SummEval."""

from __future__ import annotations

from estime_metric.measures import HIGHER_IS_BETTER, MEASURES

#: The columns that identify a summary.
KEY = ["document", "system"]
#: What files call them: the first name that a table has is used.
DOCUMENT_COLUMNS = ("document", "doc", "doc_id", "document_id", "hash", "pair", "domain")
SYSTEM_COLUMNS = (
    "system",
    "system_id",
    "summarizer",
    "model",
    "model_id",
    "model_name",
    "n_errors",
    "version",
    "id",
)
#: Columns of numbers that `estime score` writes next to the measures of quality.
NOT_MEASURES = ("line", "flag", *(name for name in MEASURES if name not in HIGHER_IS_BETTER))

#: Systems of SummEval and what Steen & Markert 2022 call them.
SUMMEVAL_SYSTEMS = {
    "M0": "LEAD-3",
    "M1": "neusum",
    "M2": "BanditSum",
    "M5": "RNES",
    "M8": "PG",
    "M9": "abssentrw",
    "M10": "Bottom-Up",
    "M11": "Improve-abs",
    "M12": "Unified-ext-abs",
    "M13": "ROUGESal",
    "M14": "Multi-task (Ent + QG)",
    "M15": "Closed book decoder",
    "M17": "T5",
    "M20": "GPT-2 (zero shot)",
    "M22": "BART",
    "M23": "Pegasus",
    "M23_dynamicmix": "Pegasus (dynamic mix)",
}
