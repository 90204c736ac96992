"""Uploaded images are decoded in a process of their own."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from core import image_sandbox, images
from core.errors import InvalidImageError, ServiceUnavailableError
from core.image_sandbox import MAX_MEMORY_BYTES
from devstack.environment import ROOT
from tests.support.images import draw
from tests.support.niceness import read_niceness_at_work

LIST_MODULES = """
import sys, config.wsgi, config.urls
print([name for name in sys.modules if name.partition(".")[0] == "PIL"])
"""


def test_web_process_does_not_load_the_decoder() -> None:
    # It keeps the memory that a large image took.
    command = [sys.executable, "-c", LIST_MODULES]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.splitlines()[-1] == "[]"


def test_caller_beyond_those_that_wait_is_refused() -> None:
    for _ in range(images.MAX_CALLERS):
        assert images._callers.acquire(blocking=False)
    try:
        with pytest.raises(ServiceUnavailableError):
            images.encode_image(io.BytesIO(draw()), "post")
    finally:
        for _ in range(images.MAX_CALLERS):
            images._callers.release()
    assert images.encode_image(io.BytesIO(draw()), "post").content


@pytest.mark.parametrize(
    "program",
    [
        f"x = bytearray({2 * MAX_MEMORY_BYTES})",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "raise SystemExit(1)",
        "import time; time.sleep(60)",
    ],
)
def test_image_whose_decoder_fails_is_invalid(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = tmp_path / "sandbox.py"
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({MAX_MEMORY_BYTES},) * 2)"
    sandbox.write_text(f"import resource\n{limit}\n{program}\n")
    monkeypatch.setattr(images, "SANDBOX_PATH", sandbox)
    monkeypatch.setattr(images, "TIMEOUT_SECONDS", 2)
    with pytest.raises(InvalidImageError):
        images.encode_image(io.BytesIO(draw()), "post")
    assert images._callers._value == images.MAX_CALLERS


def test_decoder_lets_the_requests_of_others_go_first() -> None:
    command = [sys.executable, "-I", str(images.SANDBOX_PATH), "post", "any"]
    assert read_niceness_at_work(command) == image_sandbox.NICENESS > 0
