"""How good is a measure? It knows scores and judgements, and no measure."""
