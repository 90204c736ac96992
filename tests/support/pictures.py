"""Take the pictures of the README: `script/pictures`."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from devstack.environment import ROOT
from tests.support.devtools import PROGRAM, Chromium

FOLDER = ROOT / "docs" / "images"
PASSWORD = "pictures-of-today-9"
RENDER_SECONDS = 300


@contextmanager
def run_demo() -> Iterator[str]:
    """Run the service with demo data on temporary stores; yield its address."""
    with tempfile.TemporaryDirectory() as data_dir:
        # The stores run as another user where this process is root.
        Path(data_dir).chmod(0o711)
        # The API documentation shows the address.
        port = os.environ.get("PORT", "8000")
        environment = os.environ | {"DATA_DIR": data_dir, "PORT": port}
        with subprocess.Popen(
            [sys.executable, "-m", "devstack.supervisor"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            try:
                assert server.stdout
                assert any("Ctrl-C" in line for line in server.stdout)
                subprocess.run(
                    [ROOT / "script" / "demo", "--password", PASSWORD],
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    check=True,
                    timeout=RENDER_SECONDS,
                )
                yield f"http://127.0.0.1:{port}"
            finally:
                server.terminate()
                server.wait(RENDER_SECONDS)


def shoot(page: Chromium, name: str) -> None:
    """Write a picture with a palette, half the size of the browser's."""
    path = FOLDER / f"{name}.png"
    page.shoot(path)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(256).save(path, optimize=True)


def shoot_admin(page: Chromium, address: str, language: str, suffix: str) -> None:
    """Write the dashboard and the page of a member with a plan and posts."""
    page.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    page.open(f"{address}/admin/")
    shoot(page, f"admin{suffix}")
    page.open(f"{address}/admin/accounts/member/?q=demo-neighbor-69")
    page.click("#result_list tbody th a")
    shoot(page, f"member{suffix}")


def main() -> None:
    with run_demo() as address, Chromium(PROGRAM, width=1440, height=1000) as page:
        page.open(f"{address}/admin/")
        page.type("#id_username", "demo-admin")
        page.type("#id_password", PASSWORD)
        page.click("input[type=submit]")
        shoot_admin(page, address, "ko", "-ko")
        shoot_admin(page, address, "en", "")
        page.open(f"{address}/api/docs")
        page.wait("document.querySelector('.opblock')")
        shoot(page, "api-docs")


if __name__ == "__main__":
    main()
