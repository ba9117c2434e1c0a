"""How good is ESTIME? The papers' experiments (SummEval, subtle errors, coherence), and meta-evaluation of
any measure.

Nothing outside this folder imports it; the command line names its commands and imports them when
they are called.
"""
