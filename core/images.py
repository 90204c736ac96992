"""Decodes uploaded images in a process of their own (`core.image_sandbox`).

One at a time in each process, for memory; few wait for it, so that threads are left for
other requests.
"""

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Literal

import orjson

from core.errors import InvalidImageError, ServiceUnavailableError

SANDBOX_PATH = Path(__file__).with_name("image_sandbox.py")
ALLOWED_KINDS = ("png", "jpeg", "webp", "gif")
# With the one that is decoded; each keeps a thread of a web process.
MAX_CALLERS = 3
# Above the processor time that a decoder has.
TIMEOUT_SECONDS = 25

_callers = threading.BoundedSemaphore(MAX_CALLERS)
_decode_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """An image as it is stored and served."""

    content: bytes
    content_type: str
    width: int
    height: int


def encode_image(
    upload: IO[bytes],
    purpose: Literal["post", "avatar", "receipt"],
    kind: str | None = None,
) -> EncodedImage:
    """Return the image of an untrusted file without metadata.

    It has to be of the kind, or one of `ALLOWED_KINDS` without one. Raises
    `InvalidImageError`, or `ServiceUnavailableError` while too many others are decoded.
    """
    with _decoder_slot(), TemporaryFile() as output:
        with TemporaryFile() as file:
            shutil.copyfileobj(upload, file)
            file.seek(0)
            # -I: neither the environment nor the working directory decides what is
            # imported; packages come from the interpreter's own environment.
            command = [sys.executable, "-I", str(SANDBOX_PATH), purpose, kind or "any"]
            try:
                subprocess.run(  # noqa: S603  # our own program
                    command,
                    stdin=file,
                    stdout=output,
                    stderr=subprocess.DEVNULL,
                    timeout=TIMEOUT_SECONDS,
                    check=True,
                )
            except subprocess.SubprocessError:
                # It exceeded a limit of the system, or failed.
                raise InvalidImageError from None
        output.seek(0)
        header = orjson.loads(output.readline())
        if "error" in header:
            raise InvalidImageError(header["error"] or None)
        content_type = f"image/{header['type']}"
        return EncodedImage(
            output.read(), content_type, header["width"], header["height"]
        )


@contextmanager
def _decoder_slot() -> Iterator[None]:
    if not _callers.acquire(blocking=False):
        raise ServiceUnavailableError
    try:
        with _decode_lock:
            yield
    finally:
        _callers.release()
