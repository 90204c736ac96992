"""The account that PostgreSQL runs under: it refuses to run as root."""

import os
import pwd
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from devstack.stores.data_dir import StoreError

FALLBACK_USER = "nobody"
"""An account that every system has and that owns nothing."""


@dataclass(frozen=True)
class OsUser:
    """Whom a program runs as; without ids, as whoever runs this."""

    name: str
    uid: int | None = None
    gid: int | None = None

    def can_access(self, *paths: Path) -> bool:
        """Whether the account reaches all these files and folders."""
        names = [shlex.quote(str(path)) for path in paths]
        tests = [f"{{ test -r {name} || test -x {name}; }}" for name in names]
        return self.run(["/bin/sh", "-c", " && ".join(tests)]).returncode == 0

    def run(
        self, command: list[str], *, text: str = ""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `command` to its end; what it says goes where we say things."""
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
        """Give `path` and all below it to the account."""
        if self.uid is None or self.gid is None:
            return
        for each in (path, *path.rglob("*")):
            os.chown(each, self.uid, self.gid, follow_symlinks=False)


def choose_os_user(owned: Path) -> OsUser:
    """Ourselves; where we are root, the owner of `owned`, else the stand-in."""
    if os.geteuid() != 0:
        return OsUser(str(os.geteuid()))
    uid = owned.stat().st_uid if owned.exists() else 0
    try:
        entry = pwd.getpwuid(uid) if uid else pwd.getpwnam(FALLBACK_USER)
    except KeyError:
        missing = uid or FALLBACK_USER
        raise StoreError(
            f"PostgreSQL does not run as root, and there is no account {missing}"
        ) from None
    return OsUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def minimal_env() -> dict[str, str]:
    """Nothing of ours: PG* variables would change what PostgreSQL does."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
