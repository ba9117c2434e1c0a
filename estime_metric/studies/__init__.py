"""How good is ESTIME? Benchmarks, meta-evaluation, training of the bundled encoders, speed.

Nothing outside this folder imports it; the command line names its commands and imports them when
they are called.
"""
