"""axe-core, which finds what keeps people from using a page.

It is an npm package (MPL-2.0), pinned in tests/browser/axe and installed on first use.
AXE names another copy of `axe.min.js`.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.devtools import Chromium

FOLDER = Path(__file__).resolve().parent.parent / "browser" / "axe"
INSTALL_TIMEOUT_SECONDS = 120
# The nodes of each violation, with what is wrong there.
RUN = """
axe.run(%s, {resultTypes: ["violations"]}).then((result) => result.violations.flatMap(
  (rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}: ${
    [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ")
  }`)
))
"""


@cache
def load_axe() -> str:
    """Return the script; skip the test where it cannot be had."""
    script = Path(
        os.environ.get("AXE") or FOLDER / "node_modules" / "axe-core" / "axe.min.js"
    )
    if not script.exists() and not os.environ.get("AXE"):
        if not shutil.which("npm"):
            pytest.skip("axe-core is missing, and npm to install it")
        command = ["npm", "ci", "--no-audit", "--no-fund", "--silent"]
        result = subprocess.run(
            command,
            cwd=FOLDER,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_SECONDS,
        )
        if result.returncode != 0:
            pytest.skip(f"axe-core could not be installed: {result.stderr[:200]}")
    return script.read_text("utf-8")


def find_barriers(page: Chromium, *, context: str = "document") -> list[str]:
    """Return the findings of axe-core on the page that is open, one line each."""
    page.evaluate(f"{load_axe()};0")
    found: Any = page.evaluate(RUN % context)
    return [str(each) for each in found]
