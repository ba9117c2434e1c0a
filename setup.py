"""What pyproject.toml cannot do: in the package's description, README's links lead to the repository, if
its address is there.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION_FILE = (ROOT / "estime_metric" / "_version.py").read_text("utf-8")
VERSION = re.search(r'__version__ = "(.+)"', VERSION_FILE)[1]


SOURCE = PROJECT["urls"].get("Source")


def absolute(link: re.Match[str]) -> str:
    """The beginning of a link to a file of this version; ``raw`` is an image's content."""
    kind = "raw" if link["image"] else "blob"
    return f"{link['start']}{SOURCE}/{kind}/v{VERSION}/"


DESCRIPTION = (ROOT / "README.md").read_text("utf-8")
if SOURCE:
    relative = r"(?P<start>(?P<image>!?)\[[^\]]*\]\()(?![a-z]+:|#)"
    DESCRIPTION = re.sub(relative, absolute, DESCRIPTION)
setup(long_description=DESCRIPTION, long_description_content_type="text/markdown")
