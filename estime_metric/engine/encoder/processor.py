"""What the processor of this machine can do, as the system describes it."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

AMD = "AuthenticAMD"  # as processors name the vendor

#: Flags of ``/proc/cpuinfo`` that indicate products in bfloat16: Intel's AMX, Arm's, and the
#: instructions of AVX-512, which AMD runs at twice the rate of float32. A Xeon that has the latter
#: without AMX was slower in bfloat16 than in float32.
_BFLOAT16, _BFLOAT16_OF_AMD = {"amx_bf16", "bf16"}, "avx512_bf16"


def vendor() -> str:
    """The vendor as the processor names it, such as ``AuthenticAMD``; empty if it is unknown."""
    if vendor_id := _description().get("vendor_id"):
        return vendor_id
    _, _, last = platform.processor().rpartition(", ")  # of Windows' description
    return last


def is_fast_in_bfloat16() -> bool:
    """Whether the processor has products in bfloat16 in hardware that are faster than products in
    float32, as reported by Linux; False on other systems.
    """
    description = _description()
    flags = description.get("flags", description.get("Features", "")).split()  # x86; Arm
    return not _BFLOAT16.isdisjoint(flags) or (_BFLOAT16_OF_AMD in flags and vendor() == AMD)


@cache
def _description() -> dict[str, str]:
    """What ``/proc/cpuinfo`` says of the first processor; empty if the file does not exist."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}
