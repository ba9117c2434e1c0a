"""The encoders in memory: loaded once, shared by all who ask for the same one, bounded in number."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from weakref import WeakValueDictionary

from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder import MaskedEncoder, choose_device
from estime_metric.engine.loading import location, revision_of
from estime_metric.engine.memory import return_memory

#: Encoders that are held although nobody uses them.
MOST_HELD = 2

#: Location of the files, revision, dtype and device; without and with the depth.
_Origin = tuple[Hashable, ...]
_Key = tuple[_Origin, int]


class EncoderStore:
    """Encoders by model, revision, dtype, device and depth.

    The ``most`` encoders that were asked for last are held, so that the next to ask finds them; others are found as
    long as somebody else holds them. A deeper encoder serves who reads a layer below. A revision that is left open or
    names a branch stands for one commit until everything is let go. Threads may share a store.

    Args:
        most: encoders held at once.
    """

    def __init__(self, most: int = MOST_HELD) -> None:
        self.most = most
        self._held: OrderedDict[_Key, MaskedEncoder] = OrderedDict()  # the one asked for last at the end
        self._alive: WeakValueDictionary[_Key, MaskedEncoder] = WeakValueDictionary()
        self._revisions: dict[Hashable, str] = {}
        self._loading: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()
        self._lock = threading.Lock()

    def get(self, config: EstimeConfig) -> tuple[MaskedEncoder, EstimeConfig]:
        """The encoder that ``config`` asks for, and ``config`` with revision and layers filled in.

        Raises:
            EncoderUnavailableError, ValueError: as `MaskedEncoder.load`.
        """
        files = location(config.model)
        with self._lock:
            loading = self._loading.setdefault(files, threading.Lock())
        with loading:  # others may load another model meanwhile
            asked = (files, config.revision)
            if asked not in self._revisions:
                self._revisions[asked] = revision_of(config.model, config.revision)
            config = replace(config, revision=self._revisions[asked])
            origin = (files, config.revision, config.dtype, str(choose_device(config.device)))
            encoder, resolved = self._find(origin, config) or MaskedEncoder.load(config)
            self._hold(origin, encoder)
        return encoder, resolved

    def release(self, *encoders: MaskedEncoder) -> None:
        """Holds some encoders no longer; none at all where none is named."""
        with self._lock:
            self._held = OrderedDict(
                (key, held) for key, held in self._held.items() if encoders and held not in encoders
            )
            if not encoders:
                self._revisions.clear()

    def _find(self, origin: _Origin, config: EstimeConfig) -> tuple[MaskedEncoder, EstimeConfig] | None:
        """The shallowest copy that is deep enough."""
        copies = sorted((key[1], encoder) for key, encoder in self._alive.items() if key[0] == origin)
        for depth, encoder in copies:
            resolved = encoder.info.resolve(config)
            if depth >= max(resolved.layer_tuple):
                return encoder, resolved
        return None

    def _hold(self, origin: _Origin, encoder: MaskedEncoder) -> None:
        """Holds an encoder, and lets go of those that it can stand in for and of the least recently used."""
        with self._lock:
            self._alive[origin, encoder.depth] = encoder
            for key in [key for key in self._held if key[0] == origin]:
                del self._held[key]
            self._held[origin, encoder.depth] = encoder
            while len(self._held) > self.most:
                self._held.popitem(last=False)


_STORE = EncoderStore()


def shared_encoder(config: EstimeConfig) -> tuple[MaskedEncoder, EstimeConfig]:
    """The encoder of this process that ``config`` asks for, and ``config`` with revision and layers filled in.

    Raises:
        EncoderUnavailableError: the model cannot be loaded; the message says what to do.
        ValueError: the model has no mask token, a layer is out of its range, or the window exceeds its positions.
    """
    return _STORE.get(config)


def release_encoders(*encoders: MaskedEncoder) -> None:
    """Holds these no longer for the next to ask; they are gone when their last user lets go of them."""
    _STORE.release(*encoders)


def unload_encoders() -> None:
    """Lets go of all encoders and returns their memory; the next use loads them again.

    An encoder that an `EstimeScorer` is using stays until that is unloaded or gone.
    """
    _STORE.release()
    return_memory()
