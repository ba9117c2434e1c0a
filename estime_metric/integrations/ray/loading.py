"""Ray itself, imported when it is first needed."""

from __future__ import annotations

from typing import Any


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


def actors_that_fit(ray: Any, num_gpus: float, num_cpus: float) -> int:
    """How many actors of these needs the nodes of the cluster hold, at least 1."""
    found = 0
    for node in ray.nodes():
        if node["Alive"]:
            has = node["Resources"]
            fits = [has.get(name, 0) // need for name, need in (("GPU", num_gpus), ("CPU", num_cpus)) if need]
            found += int(min(fits, default=1))
    return max(found, 1)
