"""Chromium led by hand: open, type, click, read, take pictures.

It is spoken to in the DevTools protocol, as JSON over two pipes, so that the tests need
a browser but no driver.
"""

import atexit
import base64
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# How long anything may take.
SECONDS = 20.0
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--lang=en-US",
    "--remote-debugging-pipe",
)
HIGH_DESCRIPTOR = 10
# Puts the pipes where Chromium wants them: it reads from 3 and writes to 4.
HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class PageError(AssertionError):
    """A script in the page failed, or what was waited for did not come."""


class Browser:
    """A process of Chromium and its two pipes."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="chromium-")
        theirs_in, self._out = _make_pipe()
        self._in, theirs_out = _make_pipe()
        self._number, self._buffer = 0, b""
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-c", HAND_OVER, str(theirs_in), str(theirs_out)),
                *(program, *FLAGS, f"--user-data-dir={self._folder}"),
                "about:blank",
            ],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        atexit.register(self.stop)

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(
        self, method: str, session: str, events: list[Any], **parameters: Any
    ) -> Any:
        """Send a command to a page, or without a session to the browser.

        Return its result; what the page reports meanwhile goes into `events`.
        """
        self._number += 1
        number = self._number
        command: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") != number:
                # Pages of earlier tests may still report something.
                if session and answer.get("sessionId") == session:
                    events.append(answer)
            elif "error" in answer:
                raise PageError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._in, 2**20)
            if not part:
                raise PageError("Chromium has ended.")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        parsed: dict[str, Any] = json.loads(message)
        return parsed


start_browser = cache(Browser)


class Chromium:
    """A page in a profile of its own, until the end of the `with` block.

    The pages of a process share the browser, which takes seconds to start, and neither
    cookies nor storage.
    """

    def __init__(self, program: str, *, width: int = 1280, height: int = 900) -> None:
        self._program, self.size = program, (width, height)
        self._session = ""
        # What the page reported, such as its requests.
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> "Chromium":
        self._browser = start_browser(self._program)
        context = self.call("Target.createBrowserContext")
        self._context = context["browserContextId"]
        target = self.call(
            "Target.createTarget",
            url="about:blank",
            browserContextId=self._context,
        )["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(*self.size)
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        self.call("Target.disposeBrowserContext", browserContextId=self._context)

    def call(self, method: str, **parameters: Any) -> Any:
        """Send one command of the protocol; return its result."""
        return self._browser.call(method, self._session, self.events, **parameters)

    def open(self, address: str) -> None:
        """Go there and wait until the page has loaded."""
        self._mark()
        self.call("Page.navigate", url=address)
        self._wait_for_next_page()

    def evaluate(self, script: str) -> Any:
        """Return the value of a script in the page."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise PageError(str(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def wait(self, script: str) -> None:
        """Wait until the script is true, which it is not of a page that goes away."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            try:
                if self.evaluate(f"!!({script})"):
                    return
            except PageError:
                pass
            time.sleep(0.05)
        raise PageError(f"did not come true: {script}\n{self.text()[:2000]}")

    def text(self) -> str:
        """Return what can be read on the page."""
        return str(self.evaluate("document.body.innerText"))

    def click(self, selector: str, *, leave: bool = True) -> None:
        """Click with the mouse in the middle of the element.

        With `leave` it leads to another page, which has loaded when this returns.
        """
        name = json.dumps(selector)
        self.wait(f"document.querySelector({name})")
        x, y = self.evaluate(
            f"""(() => {{
                const element = document.querySelector({name});
                element.scrollIntoView({{block: "center"}});
                const box = element.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        if leave:
            self._mark()
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )
        if leave:
            self._wait_for_next_page()

    def type(self, selector: str, text: str) -> None:
        """Type text into a field, in place of what was there."""
        name = json.dumps(selector)
        self.wait(f"document.querySelector({name})")
        self.evaluate(
            f"document.querySelector({name}).focus();"
            f"document.querySelector({name}).select()"
        )
        self.call("Input.insertText", text=text)

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def use_scheme(self, scheme: str) -> None:
        """Ask for `light` or `dark`, as the system would."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def shoot(self, path: Path | str) -> None:
        """Write a picture of the page."""
        picture = self.call("Page.captureScreenshot")
        Path(path).write_bytes(base64.b64decode(picture["data"]))

    def requested(self) -> set[str]:
        """Return the addresses that the pages asked for."""
        return {
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        }

    def errors(self) -> list[str]:
        """Return what a Content-Security-Policy refused, and exceptions of scripts."""
        self.evaluate("1")  # reads what is still in the pipe
        entries = [
            event["params"]["entry"]["text"]
            for event in self.events
            if event.get("method") == "Log.entryAdded"
        ]
        return [text for text in entries if "Content Security Policy" in text] + [
            event["params"]["exceptionDetails"]["text"]
            for event in self.events
            if event.get("method") == "Runtime.exceptionThrown"
        ]

    def _mark(self) -> None:
        self.evaluate("window.isOld = true")

    def _wait_for_next_page(self) -> None:
        self.wait("window.isOld === undefined && document.readyState === 'complete'")


def _make_pipe() -> tuple[int, int]:
    """Return the reading and the writing end, out of the way of 3 and 4."""
    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR))
        os.close(end)
    return ends[0], ends[1]


NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), "")
RENDER_SECONDS = 60
# How long a page may run; the browser's own clock, which jumps ahead.
PAGE_MILLISECONDS = 3_000

needs_chromium = pytest.mark.skipif(not PROGRAM, reason="no Chromium was found")


def render(address: str) -> str:
    """Return the document as it is when the time of the page is over."""
    with tempfile.TemporaryDirectory() as profile:
        run = subprocess.run(
            [
                PROGRAM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                f"--user-data-dir={profile}",
                f"--virtual-time-budget={PAGE_MILLISECONDS}",
                "--dump-dom",
                address,
            ],
            capture_output=True,
            text=True,
            timeout=RENDER_SECONDS,
            check=True,
        )
    return run.stdout


FOLDER = Path(__file__).resolve().parent.parent / "browser" / "axe"
INSTALL_TIMEOUT_SECONDS = 120
# The nodes of each violation, with what is wrong there.
RUN = """
axe.run(%s, {resultTypes: ["violations"]}).then((result) => result.violations.flatMap(
  (rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}: ${
    [...node.any, ...node.all, ...node.none].map((check) => check.message).join("; ")
  }`)
))
"""


@cache
def load_axe() -> str:
    """Return the script; skip the test where it cannot be had."""
    script = Path(
        os.environ.get("AXE") or FOLDER / "node_modules" / "axe-core" / "axe.min.js"
    )
    if not script.exists() and not os.environ.get("AXE"):
        if not shutil.which("npm"):
            pytest.skip("axe-core is missing, and npm to install it")
        command = ["npm", "ci", "--no-audit", "--no-fund", "--silent"]
        result = subprocess.run(
            command,
            cwd=FOLDER,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_SECONDS,
        )
        if result.returncode != 0:
            pytest.skip(f"axe-core could not be installed: {result.stderr[:200]}")
    return script.read_text("utf-8")


def find_barriers(page: Chromium, *, context: str = "document") -> list[str]:
    """Return the findings of axe-core on the page that is open, one line each."""
    page.evaluate(f"{load_axe()};0")
    found: Any = page.evaluate(RUN % context)
    return [str(each) for each in found]
