"""Headless Chromium, where the machine has it: what a page becomes in a real browser."""

import os
import shutil
import subprocess
import tempfile

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), "")
SECONDS = 60
# How long a page may run; the browser's own clock, which jumps ahead.
PAGE_MILLISECONDS = 3_000

needs_chromium = pytest.mark.skipif(not PROGRAM, reason="no Chromium was found")


def render(address: str) -> str:
    """Return the document as it is when the time of the page is over."""
    with tempfile.TemporaryDirectory() as profile:
        run = subprocess.run(
            [
                PROGRAM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                f"--user-data-dir={profile}",
                f"--virtual-time-budget={PAGE_MILLISECONDS}",
                "--dump-dom",
                address,
            ],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    return run.stdout
