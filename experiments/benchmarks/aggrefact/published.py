"""Balanced accuracies of five detectors as published; none was computed by this package.

Source: Tang et al. 2023, table 8, with a threshold for each row, on the split ``test``; three digits
from the authors' notebook ``final_result.ipynb``.
"""

from __future__ import annotations

import io

import pandas as pd

from experiments.benchmarks.aggrefact.data import PLACE

_TABLE = """
origin dataset   group        summaries   DAE QuestEval SummaC-ZS SummaC-Conv QAFactEval
cnndm  CLIFF     recent             150 0.730     0.740     0.646       0.649      0.716
cnndm  FRANK     older              523 0.704     0.670     0.692       0.727      0.773
cnndm  FRANK     recent             175 0.699     0.626     0.570       0.601      0.547
cnndm  FRANK     transformers       175 0.574     0.556     0.631       0.634      0.646
cnndm  FactCC    older              503 0.704     0.655     0.835       0.891      0.843
cnndm  Goyal21   older               25 0.188     0.146     0.375       0.354      0.271
cnndm  Polytope  older              450 0.779     0.687     0.802       0.791      0.824
cnndm  Polytope  recent              34 0.294     0.176     0.971       0.735      0.324
cnndm  Polytope  transformers       150 0.774     0.733     0.970       0.811      0.726
cnndm  SummEval  older              548 0.661     0.649     0.773       0.801      0.814
cnndm  SummEval  recent             200 0.452     0.649     0.622       0.827      0.652
cnndm  SummEval  transformers        50 0.760     0.680     0.620       0.580      0.740
cnndm  Wang20    older              117 0.586     0.552     0.655       0.672      0.754
xsum   CLIFF     recent             150 0.754     0.619     0.596       0.666      0.626
xsum   Cao22     recent             239 0.723     0.601     0.490       0.668      0.613
xsum   Goyal21   recent              50 0.644     0.814     0.466       0.552      0.754
xsum   Wang20    recent             119 0.756     0.560     0.698       0.721      0.756
xsum   XSumFaith older              430 0.834     0.597     0.533       0.675      0.605
xsum   XSumFaith transformers       423 0.855     0.601     0.514       0.646      0.596
"""

#: By `Place`: the number of ``summaries``, and the balanced accuracy of each of `DETECTORS`.
TABLE_8 = pd.read_csv(io.StringIO(_TABLE), sep=r"\s+", index_col=PLACE)
DETECTORS = list(TABLE_8.columns.drop("summaries"))
