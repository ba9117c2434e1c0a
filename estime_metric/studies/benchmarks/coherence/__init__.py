"""The comparison of coherence measures of Steen & Markert 2022, from its published scores; extra
``meta``.
"""
