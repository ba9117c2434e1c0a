"""How the embedded encoder was made: its training, export and the choice of its layer.

Nothing that the installed package runs imports this; the result stands in `estime_metric.embedded`.
"""
