"""Decodes uploaded images in a subprocess, one at a time for memory."""

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
from django.utils.translation import gettext_lazy

from core.errors import InvalidImageError, ServiceUnavailableError
from core.metrics import image_count

SANDBOX_PATH = Path(__file__).with_name("image_sandbox.py")
ALLOWED_KINDS = ("png", "jpeg", "webp", "gif")
# Each caller keeps a thread of a web process.
MAX_CALLERS = 3
# Longer than the decoder's limit of processor time.
TIMEOUT_SECONDS = 25

ERROR_DETAILS = {
    "frames": gettext_lazy("The image has too many frames."),
    "markup": gettext_lazy("The file contains HTML or script code."),
    "pixels": gettext_lazy("The image has too many pixels."),
    "trailing": gettext_lazy("The file contains data after the end of the image."),
}

_callers = threading.BoundedSemaphore(MAX_CALLERS)
_decode_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class EncodedImage:
    content: bytes
    content_type: str
    width: int
    height: int


def encode_image(
    upload: IO[bytes],
    purpose: Literal["post", "avatar", "receipt"],
    kind: str | None = None,
) -> EncodedImage:
    with _decoder_slot(), TemporaryFile() as output:
        with TemporaryFile() as file:
            shutil.copyfileobj(upload, file)
            file.seek(0)
            # -I: imports ignore environment variables and the working directory.
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
                image_count.labels("failed").inc()
                raise InvalidImageError from None
        output.seek(0)
        header = orjson.loads(output.readline())
        image_count.labels("refused" if "error" in header else "stored").inc()
        if "error" in header:
            raise InvalidImageError(ERROR_DETAILS.get(header["error"]))
        content_type = f"image/{header['type']}"
        return EncodedImage(
            output.read(), content_type, header["width"], header["height"]
        )


@contextmanager
def _decoder_slot() -> Iterator[None]:
    if not _callers.acquire(blocking=False):
        image_count.labels("busy").inc()
        raise ServiceUnavailableError
    try:
        with _decode_lock:
            yield
    finally:
        _callers.release()
