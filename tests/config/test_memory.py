"""The memory of the web server's processes."""

import subprocess
import sys

from devstack.environment import ROOT

# Four threads compute passwords, as in `accounts.login.hashers`, each several at once.
HASH_PASSWORDS = """
import threading
from pathlib import Path
from argon2.low_level import Type, hash_secret_raw
from config.server import return_freed_memory

def hash_password():
    for _ in range(3):
        hash_secret_raw(b"password", b"saltsalt", 2, 19 * 1024, 1, 32, Type.ID)

def measure_mebibytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

return_freed_memory()
before = measure_mebibytes()
threads = [threading.Thread(target=hash_password) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(measure_mebibytes() - before)
"""
MAX_KEPT_MEBIBYTES = 10


def test_what_passwords_take_is_given_back() -> None:
    run = subprocess.run(
        [sys.executable, "-c", HASH_PASSWORDS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert int(run.stdout) <= MAX_KEPT_MEBIBYTES
