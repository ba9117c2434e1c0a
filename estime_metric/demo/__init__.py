"""The demo: a web page that shows alarms with their evidence. ``estime demo`` and the Space start
it.
"""

from __future__ import annotations
