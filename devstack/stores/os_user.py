"""PostgreSQL refuses to run as root."""

import os
import pwd
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from devstack.stores.data_dir import StoreError

# Exists on every system and owns nothing.
FALLBACK_USER = "nobody"


@dataclass(frozen=True)
class OsUser:
    """No ids: the current user."""

    name: str
    uid: int | None = None
    gid: int | None = None

    def can_access(self, *paths: Path) -> bool:
        names = [shlex.quote(str(path)) for path in paths]
        tests = [f"{{ test -r {name} || test -x {name}; }}" for name in names]
        return self.run(["/bin/sh", "-c", " && ".join(tests)]).returncode == 0

    def run(
        self, command: list[str], *, text: str = ""
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(  # noqa: S603
            command,
            input=text.encode(),
            cwd="/",
            env=minimal_env(),
            check=False,
            user=self.uid,
            group=self.gid,
            extra_groups=None if self.uid is None else [],
        )

    def chown_recursive(self, path: Path) -> None:
        if self.uid is None or self.gid is None:
            return
        for each in (path, *path.rglob("*")):
            os.chown(each, self.uid, self.gid, follow_symlinks=False)


def choose_os_user(owned: Path) -> OsUser:
    """Return the current user; for root, the owner of `owned`, else FALLBACK_USER."""
    if os.geteuid() != 0:
        return OsUser(str(os.geteuid()))
    uid = owned.stat().st_uid if owned.exists() else 0
    try:
        entry = pwd.getpwuid(uid) if uid else pwd.getpwnam(FALLBACK_USER)
    except KeyError:
        missing = uid or FALLBACK_USER
        raise StoreError(
            f"PostgreSQL does not run as root, and there is no OS user {missing}"
        ) from None
    return OsUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def minimal_env() -> dict[str, str]:
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
