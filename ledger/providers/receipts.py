"""Text recognition by Google Vision, `images:annotate`."""

import base64
import json
import logging
import re
from typing import Any

from django.conf import settings

from core import http_client
from core.errors import InvalidImageError, ProviderUnavailableError

logger = logging.getLogger(__name__)

RECOGNITION_TIMEOUT_SECONDS = 10.0
RESPONSE_FIELD_MASK = "responses.error,responses.fullTextAnnotation.text"
"""Without this mask the answer has a box for each letter, megabytes of them."""
INVALID_ARGUMENT = 3
"""INVALID_ARGUMENT, google.rpc.Code: how an image is refused."""
_ERROR_NAME_RE = re.compile(r"[A-Z_]{1,50}")


def recognize_text(jpeg: bytes) -> str:
    """All text on the picture, "" where there is none.

    Raises `InvalidImageError` where the provider cannot read the picture, and
    `ProviderUnavailableError` for everything else: no answer, a refused key, a quota.
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
            seconds=RECOGNITION_TIMEOUT_SECONDS,
            headers={
                "X-Goog-Api-Key": settings.OCR_API_KEY,
                "X-Goog-FieldMask": RESPONSE_FIELD_MASK,
            },
        )
    except ProviderUnavailableError:
        raise _log_failure("no answer") from None
    if answer.status != 200:
        raise _log_failure(f"status {answer.status} {_error_status(answer.body)}")
    return _extract_text(_parse_json(answer.body))


def _extract_text(body: Any) -> str:
    match body:
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
    raise _log_failure("an answer that cannot be read")


def _error_status(body: bytes) -> str:
    """The provider's own name of a refusal, such as PERMISSION_DENIED."""
    match _parse_json(body):
        case {"error": {"status": status}}:
            return _safe_error_name(status)
    return ""


def _parse_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _safe_error_name(value: Any) -> str:
    """Only a number or a name: an answer's own words could quote what was sent."""
    if isinstance(value, int) or (
        isinstance(value, str) and _ERROR_NAME_RE.fullmatch(value)
    ):
        return str(value)[:50]
    return ""


def _log_failure(why: str) -> ProviderUnavailableError:
    logger.warning("receipt recognition: %s", why.strip())
    return ProviderUnavailableError()
