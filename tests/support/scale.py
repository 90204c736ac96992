"""The size of tests that repeat one rule many times.

The usual size shows the rule in seconds; `TEST_SCALE=full` runs the full figure.
"""

import os

IS_FULL = os.environ.get("TEST_SCALE") == "full"


def scaled(usual: int, full: int) -> int:
    """Return the usual number, or the full one with `TEST_SCALE=full`."""
    return full if IS_FULL else usual
