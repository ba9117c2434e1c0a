"""Ray itself, imported when it is first needed."""

from __future__ import annotations

import os
import socket
from typing import Any

#: Seconds within which the machine of a cluster has to answer; Ray itself would ask for more than a minute.
_ANSWER = 10.0


def import_ray() -> Any:
    """The package ``ray`` with ``ray.data``.

    Raises:
        ImportError: it is not installed; the message names the extra.
    """
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ImportError("Ray needs its package: pip install 'estime-metric[ray]'.") from error
    return ray


def connect(ray: Any, address: str | None) -> None:
    """Connects this process to the cluster at ``address``, as ``ray.init`` takes it.

    Raises:
        ConnectionError: nothing answers there, or no cluster runs here for ``"auto"``.
    """
    place = (address or os.environ.get("RAY_ADDRESS", "")).removeprefix("ray://")
    host, colon, port = place.rpartition(":")
    if colon and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()
        except (OSError, OverflowError) as error:
            raise ConnectionError(
                f"Expected a Ray cluster at {place}, but nothing answers there ({error}). Start one on the head node: "
                f"ray start --head --port {port}"
            ) from error
    ray.init(address=address)


def actors_that_fit(ray: Any, num_gpus: float, num_cpus: float) -> int:
    """How many actors of these needs the nodes of the cluster hold, at least 1."""
    found = 0
    for node in ray.nodes():
        if node["Alive"]:
            has = node["Resources"]
            fits = [has.get(name, 0) // need for name, need in (("GPU", num_gpus), ("CPU", num_cpus)) if need]
            found += int(min(fits, default=1))
    return max(found, 1)
