"""The encoders in memory, loaded once and shared by all who ask for the same one."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import replace

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder.device import choose_device
from estime_metric.engine.encoder.folder import location
from estime_metric.engine.encoder.hub import revision_of
from estime_metric.engine.encoder.masked import MaskedEncoder
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
            requested = (files, config.revision)
            if requested not in self._revisions:
                self._revisions[requested] = revision_of(config.model, config.revision)
            device = choose_device(config.device)
            config = replace(
                config,
                revision=self._revisions[requested],
                dtype=choose_dtype(config.dtype, device),
            )
            origin = (files, config.revision, config.dtype, str(device))
            encoder = self._held.get(origin)
            if encoder is None or encoder.depth < max(encoder.info.resolve(config).layer_tuple):
                encoder = MaskedEncoder.load(config, device)
            self._held.pop(origin, None)
            self._held[origin] = encoder
            while len(self._held) > MOST_HELD:
                del self._held[next(iter(self._held))]
        return encoder, encoder.info.resolve(config)

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
