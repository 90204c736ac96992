"""Settings of a fresh interpreter."""

import atexit
import json
import os
import subprocess
import sys
from functools import cache

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
    "S3_BUCKET": "household-ledger",
    "S3_ACCESS_KEY": "access",
    "S3_SECRET_KEY": "mnbvc-9431-qwert",
}


def import_settings(
    code: str, shell: tuple[str, ...] = (), /, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter with the settings of these variables.

    `shell` is a command that runs the interpreter; without one it is forked.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    given = {
        "SECRET_KEY": "k" * 50,
        "DATABASE_URL": "postgresql://ledger:swordfish@127.0.0.1:1/ledger",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    if not shell:
        return fork_interpreter(code, kept | given | variables)
    return subprocess.run(
        [*shell, sys.executable, "-c", code],
        env=kept | given | variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def fork_interpreter(
    code: str, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `code` by `tests.support.interpreters`."""
    server = start_interpreters()
    assert server.stdin
    assert server.stdout
    server.stdin.write(json.dumps({"code": code, "env": env}) + "\n")
    server.stdin.flush()
    returncode, stdout, stderr = json.loads(server.stdout.readline())
    return subprocess.CompletedProcess(code, returncode, stdout, stderr)


@cache
def start_interpreters() -> subprocess.Popen[str]:
    """Start the process that the interpreters are forked from, once."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.support.interpreters"],
        cwd=ROOT,
        env=kept,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(stop_interpreters, server)
    return server


def stop_interpreters(server: subprocess.Popen[str]) -> None:
    """Close the standard input of the interpreters, which ends them."""
    server.communicate()


def read_real(expression: str, **variables: str) -> str:
    code = f"from django.conf import settings; print({expression})"
    result = import_settings(code, **variables)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
