"""The numbers that Steen & Markert 2022 published; none was computed by this package."""

from __future__ import annotations

import pandas as pd

#: File of scores -> the paper's label, in the order of its Table 3.
LABELS = {
    "human": "HUM",
    "random": "RND",
    "entity-graph": "EGR",
    "eegrid-cnndm": "EEG C/D",
    "eegrid-wsj": "EEG WSJ",
    "cnn-coherence-cnndm": "NEG C/D",
    "cnn-coherence-duc03": "NEG DUC",
    "cnn-coherence-wsj": "NEG WSJ",
    "unified-cnndm": "UNF C/D",
    "unified-wsj": "UNF WSJ",
    "neural-entity-graph-duc03": "GRA DUC",
    "neural-entity-graph-cnndm": "GRA C/D",
    "neural-entity-graph-wsj": "GRA WSJ",
    "ccl-roberta-large-ours-cnndm": "CCL C/D",
    "ccl-roberta-large-ours-wsj": "CCL WSJ",
    "bartscore": "BAS",
    "gruen": "GRN",
    "sumqe": "SQE",
}


#: The paper's names of its statistics (section 4), in the order of its Table 3.
STATISTICS = ("τ_intra", "τ_pair", "τ_sum", "τ_sys", "Acc_pair")


# Table 3, 17 systems: of each of the five statistics the value and the ends of its interval.
_TABLE_3 = """
HUM:      0.75  0.70  0.79    0.81  0.76  0.85    0.81  0.77  0.84    0.91  0.71  1.00    0.77  0.71  0.81
RND:     -0.00 -0.06  0.05   -0.00 -0.07  0.06    0.00 -0.05  0.05    0.09 -0.41  0.53    0.50  0.46  0.54
EGR:     -0.04 -0.12  0.04   -0.11 -0.19 -0.02   -0.09 -0.16 -0.01   -0.25 -0.59  0.10    0.40  0.36  0.44
EEG C/D:  0.02 -0.07  0.10    0.04 -0.10  0.18    0.06 -0.06  0.17   -0.19 -0.68  0.26    0.52  0.45  0.59
EEG WSJ:  0.02 -0.06  0.10    0.00 -0.09  0.11    0.03 -0.06  0.11   -0.19 -0.60  0.26    0.50  0.44  0.55
NEG C/D: -0.07 -0.14 -0.00   -0.05 -0.14  0.07   -0.06 -0.15  0.03   -0.15 -0.61  0.32    0.47  0.42  0.53
NEG DUC: -0.08 -0.16  0.01   -0.06 -0.18  0.06   -0.07 -0.17  0.04   -0.06 -0.49  0.31    0.47  0.40  0.53
NEG WSJ: -0.02 -0.08  0.05   -0.08 -0.17  0.00   -0.07 -0.15  0.02   -0.43 -0.69 -0.05    0.45  0.41  0.50
UNF C/D:  0.04 -0.03  0.11    0.05 -0.05  0.14    0.06 -0.01  0.13    0.13 -0.33  0.59    0.53  0.48  0.57
UNF WSJ:  0.02 -0.05  0.09   -0.11 -0.26  0.03   -0.04 -0.15  0.05   -0.09 -0.51  0.39    0.44  0.36  0.52
GRA DUC: -0.04 -0.12  0.03   -0.05 -0.16  0.03   -0.06 -0.13  0.01   -0.19 -0.65  0.25    0.47  0.43  0.52
GRA C/D:  0.08  0.02  0.15    0.09 -0.02  0.19    0.11  0.01  0.18    0.37 -0.07  0.69    0.55  0.49  0.60
GRA WSJ:  0.08  0.01  0.15   -0.01 -0.11  0.10    0.02 -0.06  0.12   -0.09 -0.47  0.37    0.49  0.44  0.55
CCL C/D:  0.26  0.19  0.33    0.40  0.31  0.49    0.39  0.31  0.44    0.62  0.30  0.86    0.71  0.66  0.76
CCL WSJ:  0.20  0.12  0.26    0.35  0.25  0.46    0.33  0.24  0.41    0.74  0.40  0.92    0.69  0.63  0.74
BAS:      0.17  0.08  0.26    0.37  0.23  0.51    0.32  0.20  0.42    0.72  0.42  0.89    0.69  0.62  0.77
GRN:      0.18  0.12  0.25    0.26  0.17  0.35    0.27  0.19  0.34    0.72  0.38  0.89    0.63  0.58  0.69
SQE:      0.19  0.13  0.26    0.26  0.15  0.36    0.24  0.15  0.32    0.51  0.05  0.80    0.64  0.58  0.69
"""


def _read(table: str) -> pd.DataFrame:
    """A row for each label and statistic: ``measure``, ``statistic``, ``paper``, ``paper_low``,
    ``paper_high``.
    """
    rows = []
    for line in table.strip().splitlines():
        label, _, cells = line.partition(":")
        numbers = [float(cell) for cell in cells.split()]
        for index, statistic in enumerate(STATISTICS):
            rows.append((label, statistic, *numbers[3 * index : 3 * index + 3]))
    return pd.DataFrame(rows, columns=["measure", "statistic", "paper", "paper_low", "paper_high"])


#: Table 3: each value with its 95% interval (bootstrap, 1,000 samples).
TABLE_3 = _read(_TABLE_3)

#: Table 4, first row: accuracy on the shuffle test, 1,000 reference summaries of CNN/DailyMail.
TABLE_4 = {
    "EGR": 0.426,
    "EEG C/D": 0.523,
    "EEG WSJ": 0.498,
    "NEG C/D": 0.524,
    "NEG DUC": 0.522,
    "NEG WSJ": 0.603,
    "UNF C/D": 0.803,
    "UNF WSJ": 0.589,
    "GRA DUC": 0.439,
    "GRA C/D": 0.838,
    "GRA WSJ": 0.623,
    "CCL C/D": 0.929,
    "CCL WSJ": 0.862,
    "BAS": 0.896,
    "GRN": 0.504,
    "SQE": 0.707,
}

_NAN = float("nan")
#: Table 1, 17 systems: a row for each confounder, a column for each statistic; "(r)" with noise, mean
#: of 100 runs.
TABLE_1 = pd.DataFrame.from_dict(
    {
        "capitalization": (_NAN, 0.21, 0.19, 0.42, 0.23),
        "capitalization (r)": (-0.03, 0.14, 0.11, 0.23, 0.57),
        "architecture": (_NAN, 0.33, 0.31, 0.58, 0.34),
        "architecture (r)": (0.01, 0.22, 0.20, 0.37, 0.62),
        "upper bound": (_NAN, 0.44, 0.39, 1.00, 0.73),
        "upper bound (r)": (0.00, 0.44, 0.39, 1.00, 0.73),
    },
    orient="index",
    columns=STATISTICS,
)

#: Table 6: proportion of documents without entity overlap, and mean share of sentences without.
TABLE_6 = {"CNN/DM Ref.": (0.287, 0.458), "SummEval": (0.178, 0.301)}

#: Table 5, 17 systems: system-level tau-b of GRUEN's components and of their sums in pairs.
TABLE_5 = {
    ("cola", "cola"): 0.57,
    ("cola", "redundancy"): 0.71,
    ("cola", "lm"): 0.59,
    ("cola", "focus"): 0.63,
    ("redundancy", "redundancy"): 0.51,
    ("redundancy", "lm"): 0.57,
    ("redundancy", "focus"): 0.51,
    ("lm", "lm"): 0.15,
    ("lm", "focus"): 0.35,
    ("focus", "focus"): 0.49,
}
