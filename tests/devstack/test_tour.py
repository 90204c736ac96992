"""The tour of the README, pasted as a whole beside a running server."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from devstack.environment import ROOT
from devstack.stores.data_dir import find_free_port
from tests.support.migrated_cluster import copy_migrated_cluster

SECONDS = 180
TOUR_RE = re.compile(r"<!-- tour -->\n```sh\n(.*?)```", re.DOTALL)


def read_tour(name: str = "README.md") -> str:
    found = TOUR_RE.findall((ROOT / name).read_text(encoding="utf-8"))
    assert len(found) == 1
    return str(found[0])


@pytest.fixture
def server() -> Iterator[dict[str, str]]:
    """Yield the environment of a terminal beside `script/server` without data."""
    data_dir = Path(tempfile.mkdtemp())
    data_dir.chmod(0o711)
    copy_migrated_cluster(data_dir / "postgres", is_ephemeral=False)
    ours = ("DATABASE_", "REDIS_URL", "SECRET_KEY", "BIND", "PYTEST_", "TEST_")
    left = {name: v for name, v in os.environ.items() if not name.startswith(ours)}
    own = {
        "DATA_DIR": str(data_dir),
        "PORT": str(find_free_port()),
        "WEB_CONCURRENCY": "1",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    terminal = left | own
    with subprocess.Popen(
        [sys.executable, "-m", "devstack.supervisor"],
        cwd=ROOT,
        env=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout
            assert any("Ctrl-C" in line for line in process.stdout)
            yield terminal
        finally:
            process.terminate()
            process.wait(SECONDS)
    shutil.rmtree(data_dir, ignore_errors=True)


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl")
def test_tour_can_be_pasted_and_ends_with_something_to_see(
    server: dict[str, str],
) -> None:
    ended = subprocess.run(
        ["sh", "-eu"],
        input=read_tour(),
        cwd=ROOT,
        env=server,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    shown = ended.stdout
    assert ended.returncode == 0, shown + ended.stderr
    for login in ("demo-free", "demo-premium", "demo-admin"):
        assert re.search(rf"{login} +try-it-out-9", shown)
    month, rest = shown.split("This month:")[1].split("The text of a card company")
    assert re.search(r'"income": [1-9]|"expense": [1-9]', month)
    card, rest = rest.split("A post with a picture:")
    assert '"action": "CREATED"' in card
    assert '"amount": 8900' in card
    assert '"pending": true' in card
    post, worth = rest.split("Net worth:")
    assert "처음 써 보는 가계부" in post
    assert "/api/images/" in post
    assert re.search(r'"assets": [1-9]\d+', worth)


def test_tour_has_nothing_that_an_interactive_shell_would_change() -> None:
    tour = read_tour()
    # Comments are no comments in zsh, and ! is the history in bash.
    assert "#" not in tour.replace("$#", "")
    assert "!" not in tour


def test_tour_is_the_same_in_both_languages() -> None:
    korean = re.sub(r"echo '.*'", "", read_tour("README.ko.md"))
    assert korean == re.sub(r"echo '.*'", "", read_tour())
