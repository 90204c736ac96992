"""Text recognition by Google Vision, `images:annotate`."""

import base64
import json
import logging
import re
from typing import Any

from django.conf import settings

from core import http_client
from core.errors import (
    InvalidImageError,
    ProviderBusyError,
    ProviderUnavailableError,
)

logger = logging.getLogger(__name__)

RECOGNITION_TIMEOUT_SECONDS = 10.0
# The full response has a bounding box for each letter: megabytes.
RESPONSE_FIELD_MASK = "responses.error,responses.fullTextAnnotation.text"
# google.rpc.Code for an unreadable image.
INVALID_ARGUMENT = 3
_ERROR_NAME_RE = re.compile(r"[A-Z_]{1,50}")

google_vision = http_client.OutsideService("google vision")


def recognize_text(jpeg: bytes) -> str:
    """Return all text on the image, "" if there is none.

    Raises `InvalidImageError` for an unreadable image, `ProviderUnavailableError` for
    all other failures.
    """
    try:
        response = http_client.post_json(
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
            service=google_vision,
            seconds=RECOGNITION_TIMEOUT_SECONDS,
            headers={
                "X-Goog-Api-Key": settings.OCR_API_KEY,
                "X-Goog-FieldMask": RESPONSE_FIELD_MASK,
            },
        )
    except ProviderBusyError:
        raise
    except ProviderUnavailableError:
        raise _log_failure("no response") from None
    if response.status != 200:
        # The provider's name of the error, such as PERMISSION_DENIED.
        name = ""
        match _parse_json(response.body):
            case {"error": {"status": status}}:
                name = _safe_error_name(status)
        raise _log_failure(f"status {response.status} {name}")
    match _parse_json(response.body):
        case {"responses": [{"error": {"code": code}}]} if code == INVALID_ARGUMENT:
            raise InvalidImageError
        case {"responses": [{"error": dict(error)}]} if error:
            raise _log_failure(f"error {_safe_error_name(error.get('code'))}")
        case {"responses": [{"fullTextAnnotation": {"text": str(text)}}]}:
            return text.encode("utf-8", "replace").decode()
        case {"responses": [{"textAnnotations": [{"description": str(text)}, *_]}]}:
            return text.encode("utf-8", "replace").decode()
        case {"responses": [dict()]}:
            return ""
    raise _log_failure("invalid response")


def _parse_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _safe_error_name(value: Any) -> str:
    # Other texts could quote the request, with the key.
    if isinstance(value, int) or (
        isinstance(value, str) and _ERROR_NAME_RE.fullmatch(value)
    ):
        return str(value)[:50]
    return ""


def _log_failure(reason: str) -> ProviderUnavailableError:
    logger.warning("receipt recognition: %s", reason.strip())
    return ProviderUnavailableError()
