"""Text recognition by Google Vision, `images:annotate`."""

import base64
import json
import logging
import re
from typing import Any

from django.conf import settings

from core import http_client
from core.errors import InvalidImage, ProviderUnavailable

logger = logging.getLogger(__name__)

RECOGNITION_SECONDS = 10.0
WANTED = "responses.error,responses.fullTextAnnotation.text"
"""Without this mask the answer has a box for each letter, megabytes of them."""
BAD_IMAGE = 3
"""INVALID_ARGUMENT, google.rpc.Code: how an image is refused."""
_NAME = re.compile(r"[A-Z_]{1,50}")


def recognize_text(jpeg: bytes) -> str:
    """All text on the picture, "" where there is none.

    Raises `InvalidImage` where the provider cannot read the picture, and
    `ProviderUnavailable` for everything else: no answer, a refused key, a quota.
    """
    try:
        answer = http_client.post_json(
            f"{settings.OCR_BASE_URL}/v1/images:annotate",
            {
                "requests": [
                    {
                        "image": {"content": base64.b64encode(jpeg).decode()},
                        "features": [{"type": "DOCUMENT_TEXT_DETECTION"}],
                        "imageContext": {"languageHints": ["ko", "en"]},
                    }
                ]
            },
            seconds=RECOGNITION_SECONDS,
            headers={
                "X-Goog-Api-Key": settings.OCR_API_KEY,
                "X-Goog-FieldMask": WANTED,
            },
        )
    except ProviderUnavailable:
        raise _report("no answer") from None
    if answer.status != 200:
        raise _report(f"status {answer.status} {_read_reason(answer.body)}")
    return _read_text(_read_json(answer.body))


def _read_text(body: Any) -> str:
    match body:
        case {"responses": [{"error": {"code": code}}]} if code == BAD_IMAGE:
            raise InvalidImage
        case {"responses": [{"error": dict(error)}]} if error:
            raise _report(f"error {_name(error.get('code'))}")
        case {"responses": [{"fullTextAnnotation": {"text": str(text)}}]}:
            return text.encode("utf-8", "replace").decode()
        case {"responses": [{"textAnnotations": [{"description": str(text)}, *_]}]}:
            return text.encode("utf-8", "replace").decode()
        case {"responses": [dict()]}:
            return ""
    raise _report("an answer that cannot be read")


def _read_reason(body: bytes) -> str:
    """The provider's own name of a refusal, such as PERMISSION_DENIED."""
    match _read_json(body):
        case {"error": {"status": status}}:
            return _name(status)
    return ""


def _read_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _name(value: Any) -> str:
    """Only a number or a name: an answer's own words could quote what was sent."""
    if isinstance(value, int) or (isinstance(value, str) and _NAME.fullmatch(value)):
        return str(value)[:50]
    return ""


def _report(why: str) -> ProviderUnavailable:
    logger.warning("receipt recognition: %s", why.strip())
    return ProviderUnavailable()
