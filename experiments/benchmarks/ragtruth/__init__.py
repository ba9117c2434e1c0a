"""RAGTruth (Niu et al. 2024): errors in summaries that language models wrote."""
