"""Settings of a fresh interpreter."""

import os
import subprocess
import sys

from devstack.environment import ROOT

# A complete configuration with which an https service starts.
SAFE_SETTINGS = {
    "PUBLIC_URL": "https://ledger.example",
    "SECRET_KEY": "Vq3sX8nL0wTz5Rk2Yb7Hf1Jd6Gm9Pc4Ua",
    "DATABASE_URL": "postgresql://ledger:mnbvc-9431-qwert@127.0.0.1:1/ledger",
    "TRUSTED_PROXY_COUNT": "1",
    "ACCOUNT_NUMBER_KEY": "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=",
    "STORE_PUSH_AUDIENCE": "https://ledger.example/api/billing/store/rtdn",
    "STORE_PUSH_EMAIL": "push@project.iam.gserviceaccount.com",
}


def import_settings(
    code: str, shell: tuple[str, ...] = (), /, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter with the settings of these variables.

    `shell` is a command that runs the interpreter.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    given = {
        "SECRET_KEY": "k" * 50,
        "DATABASE_URL": "postgresql://ledger:swordfish@127.0.0.1:1/ledger",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    return subprocess.run(
        [*shell, sys.executable, "-c", code],
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
