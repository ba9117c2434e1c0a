"""Studies without the time that pictures take."""

from __future__ import annotations

import pytest


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies draw their pictures, but do not write them, which takes half of their seconds."""
    monkeypatch.setattr("estime_metric.show.plot.save", lambda figure, path: (path, path))
