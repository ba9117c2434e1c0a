"""Tables (for the terminal, Markdown, LaTeX and CSV) and the style of plots."""
