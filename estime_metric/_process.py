"""The process that imported this package first."""

import os

#: This process, or the one that it was forked from.
IMPORTED_IN = os.getpid()
