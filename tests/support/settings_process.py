"""Settings of a fresh interpreter."""

import os
import subprocess
import sys

from devstack.environment import ROOT


def import_settings(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter with the settings of these variables."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    given = {
        "SECRET_KEY": "k" * 50,
        "DATABASE_URL": "postgresql://ledger:swordfish@127.0.0.1:1/ledger",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    return subprocess.run(
        [sys.executable, "-c", code],
        env=kept | given | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def read_real(expression: str, **variables: str) -> str:
    code = f"from django.conf import settings; print({expression})"
    result = import_settings(code, **variables)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
