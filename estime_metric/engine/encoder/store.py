"""The encoders in memory: loaded once, shared by all who ask for the same one, bounded in number."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import replace

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder.loading import location, revision_of
from estime_metric.engine.encoder.masked import MaskedEncoder, choose_device
from estime_metric.engine.encoder.precision import choose_dtype

MOST_HELD = 2  # encoders that are cached while unused


class EncoderStore:
    """The ``MOST_HELD`` encoders that were requested last, by model, revision, dtype and device.

    A deeper encoder serves requests for the layers below, and replaces one that is not deep enough.
    A revision that is not set or names a branch means the same commit until everything is released.
    While one thread loads, others wait.
    """

    def __init__(self) -> None:
        self._held: dict[Hashable, MaskedEncoder] = {}  # the last requested one at the end
        self._revisions: dict[Hashable, str] = {}
        self._lock = threading.Lock()

    def get(self, config: EstimeConfig) -> tuple[MaskedEncoder, EstimeConfig]:
        """The encoder that ``config`` requests, and the fully resolved ``config``; raises the
        errors of loading.
        """
        with self._lock:
            files = location(config.model)
            asked = (files, config.revision)
            if asked not in self._revisions:
                self._revisions[asked] = revision_of(config.model, config.revision)
            device = choose_device(config.device)
            dtype = choose_dtype(config.dtype, device)
            config = replace(config, revision=self._revisions[asked], dtype=dtype)
            origin = (files, config.revision, config.dtype, str(device))
            encoder = self._held.get(origin)
            resolved = config if encoder is None else encoder.info.resolve(config)
            if encoder is None or encoder.depth < max(resolved.layer_tuple):
                encoder, resolved = MaskedEncoder.load(config)
            self._held.pop(origin, None)
            self._held[origin] = encoder
            while len(self._held) > MOST_HELD:
                del self._held[next(iter(self._held))]
        return encoder, resolved

    def release(self, *encoders: MaskedEncoder) -> None:
        """Holds some encoders no longer, or all if none is named; they are gone when their last
        user is.
        """
        with self._lock:
            self._held = {
                origin: held
                for origin, held in self._held.items()
                if encoders and held not in encoders
            }
            if not encoders:
                self._revisions.clear()


STORE = EncoderStore()  # one per process
