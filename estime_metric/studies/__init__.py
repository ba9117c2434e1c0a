"""How good is the measure? Benchmarks, meta-evaluation, training of the encoders that ship, speed.

Nothing outside this folder imports it; the command line names its commands and imports them when
they are called.
"""
