"""Take the pictures of the README and the landing page: `script/pictures`."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from config.about import VERSION
from devstack.environment import ROOT
from tests.support.devtools import PROGRAM, Chromium

DOCUMENTS = ROOT / "docs" / "images"
LANDING_PAGE = ROOT / "administration" / "static" / "administration"
# As in templates/landing.html.
LANDING_SIZE = 960, 640
# The text of a PNG that names the version whose pages it shows.
VERSION_KEY = "Version"
COLORS = 128
PASSWORD = "pictures-of-today-9"
RENDER_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as it is shown; `link` is followed from it."""

    file: Path
    path: str
    language: str
    link: str = ""
    size: tuple[int, int] = (1440, 1000)


def list_pictures() -> Iterator[Picture]:
    for language, suffix in (("en", ""), ("ko", "-ko")):
        yield Picture(DOCUMENTS / f"admin{suffix}.png", "/admin/", language)
        # A member with a plan and posts.
        members = "/admin/accounts/member/?q=demo-neighbor-69"
        row = "#result_list tbody th a"
        yield Picture(DOCUMENTS / f"member{suffix}.png", members, language, row)
        search = "/api/docs?q=account/entries#createEntry"
        yield Picture(DOCUMENTS / f"api-docs{suffix}.png", search, language)
        landing = LANDING_PAGE / f"landing-{language}.png"
        # Members with their charts.
        yield Picture(landing, "/admin/#section-3", language, size=LANDING_SIZE)


PICTURES = tuple(list_pictures())


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


def shoot(page: Chromium, path: Path) -> None:
    """Write a picture with a palette, half the size of the browser's."""
    page.shoot(path)
    made_for = PngInfo()
    made_for.add_text(VERSION_KEY, VERSION)
    with Image.open(path) as picture:
        reduced = picture.convert("RGB").quantize(COLORS)
    reduced.save(path, optimize=True, pnginfo=made_for)


def log_in(page: Chromium, address: str) -> None:
    page.open(f"{address}/admin/")
    page.type("#id_username", "demo-admin")
    page.type("#id_password", PASSWORD)
    page.click("input[type=submit]")


def main() -> None:
    with run_demo() as address, Chromium(PROGRAM) as page:
        log_in(page, address)
        for picture in PICTURES:
            headers = {"Accept-Language": picture.language}
            page.call("Network.setExtraHTTPHeaders", headers=headers)
            page.resize(*picture.size)
            page.open(f"{address}{picture.path}")
            if picture.link:
                page.click(picture.link)
            shoot(page, picture.file)


if __name__ == "__main__":
    main()
