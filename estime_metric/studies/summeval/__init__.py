"""Tables 1 and 2 of the ESTIME paper on SummEval, measured anew: data, measures, tables, plots."""
