"""Tables 1, 2 and 3 of the ESTIME paper as printed (Vasilyev & Bohannon 2021, sections 3.1, 3.2,
4); none was computed by this package.

The preprint prints the same numbers, without ESTIME-21. The paper's spellings of one measure are
made one.
"""

from __future__ import annotations

import io

import pandas as pd

#: The four qualities that the experts judged, in the order of Table 1.
QUALITIES = ("consistency", "relevance", "coherence", "fluency")


#: Spearman's rho and Kendall's tau-c.
METHODS = ("spearman", "kendall_c")

# Rho and tau of Table 1, by quality, of Table 2, and of Table 3, if it has the row: 2,000 pairs
# of CNN/DailyMail, 3 errors each. The first nine measures need no reference summary.
_ROWS = """
BLANC-AXXL      0.200  0.098   0.246  0.179   0.127  0.093   0.115  0.066   0.812  0.617   0.036  0.042
BLANC-BLU       0.207  0.102   0.217  0.156   0.116  0.085   0.112  0.065   0.724  0.567   0.076  0.087
(-)ESTIME-12    0.374  0.184   0.140  0.100   0.238  0.173   0.343  0.198   0.756  0.583   0.138  0.159
(-)ESTIME-21    0.404  0.200   0.188  0.134   0.300  0.217   0.399  0.232   0.821  0.633   0.163  0.188
(-)ESTIME-24    0.358  0.176   0.117  0.084   0.187  0.134   0.363  0.209   0.815  0.633   0.169  0.195
(-)J-Shannon    0.193  0.095   0.406  0.298   0.289  0.213   0.125  0.072   0.753  0.533   0.048  0.055
SummaQA-F1      0.174  0.085   0.16   0.113   0.089  0.065   0.12   0.069   0.862  0.667   0.055  0.064
SummaQA-P       0.197  0.097   0.179  0.127   0.112  0.082   0.133  0.076   0.912  0.750   0.054  0.062
SUPERT          0.297  0.147   0.306  0.222   0.236  0.175   0.175  0.101   0.832  0.633   0.107  0.123
BERTScore-F1    0.109  0.053   0.371  0.273   0.377  0.277   0.142  0.082  -0.029 -0.017
BERTScore-P     0.055  0.027   0.268  0.196   0.323  0.238   0.126  0.072  -0.329 -0.217
BERTScore-R     0.164  0.081   0.423  0.309   0.345  0.253   0.12   0.069   0.885  0.733
BLEU            0.095  0.047   0.213  0.153   0.176  0.128   0.140  0.080  -0.150 -0.017
ROUGE-L         0.115  0.057   0.241  0.174   0.170  0.124   0.079  0.045   0.376  0.283
ROUGE-1         0.137  0.067   0.302  0.220   0.184  0.134   0.080  0.046   0.694  0.517
ROUGE-2         0.129  0.063   0.245  0.177   0.146  0.105   0.063  0.036   0.779  0.600
ROUGE-3         0.149  0.073   0.251  0.180   0.160  0.116   0.066  0.038   0.888  0.717
"""


_COLUMNS = [
    *((quality, "summary", method) for quality in QUALITIES for method in METHODS),
    *(("consistency", "system", method) for method in METHODS),
]
_PRINTED = pd.read_csv(
    io.StringIO(_ROWS), sep=r"\s+", names=["measure", *_COLUMNS, *METHODS], index_col="measure"
)
#: A row for each measure of Tables 1 and 2, a column for each quality, level and method.
CORRELATIONS = _PRINTED[_COLUMNS].set_axis(
    pd.MultiIndex.from_tuples(_COLUMNS, names=["quality", "level", "method"]), axis=1
)
#: Table 3: row -> the correlation of clean and corrupted summaries with 1 and 0, by method.
TABLE_3 = _PRINTED[list(METHODS)].dropna()
#: Rows of the upper halves of Tables 1 and 2: measures that need no reference summary. The others
#: need some.
REFERENCE_FREE = tuple(TABLE_3.index)
REFERENCE_BASED = tuple(CORRELATIONS.index.drop(TABLE_3.index))
