"""Account numbers at rest: AES-256-GCM with a fresh nonce (spec 3.3).

Pure: keys come as arguments, the one in use first, older ones behind it. The
context (whose number it is) is authenticated, so a value copied into another
member's row does not open there.
"""

import base64
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ENCRYPTED_PREFIX = "sealed:1:"
NONCE_BYTES = 12
MAX_PLAINTEXT_BYTES = 155
"""What fits, sealed, into a column of 255 characters."""


class DecryptionError(Exception):
    """A sealed value that no key opens."""


def encrypt(text: str, keys: Sequence[bytes], context: str) -> str:
    """The value for the column; without a key, or empty, the text itself."""
    if not keys or not text:
        return text
    nonce = os.urandom(NONCE_BYTES)
    sealed = AESGCM(keys[0]).encrypt(nonce, text.encode(), context.encode())
    return ENCRYPTED_PREFIX + base64.urlsafe_b64encode(nonce + sealed).decode()


def decrypt(stored: str, keys: Sequence[bytes], context: str) -> str:
    """The text behind a column's value; what was stored plain stays readable.

    Raises `DecryptionError` when no key opens it.
    """
    if not stored.startswith(ENCRYPTED_PREFIX):
        return stored
    try:
        sealed = base64.urlsafe_b64decode(stored.removeprefix(ENCRYPTED_PREFIX))
    except ValueError:
        raise DecryptionError from None
    nonce, sealed = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
    for key in keys:
        try:
            return AESGCM(key).decrypt(nonce, sealed, context.encode()).decode()
        except (InvalidTag, ValueError):
            continue
    raise DecryptionError


def is_encrypted_with(stored: str, key: bytes, context: str) -> bool:
    """Whether this very key opens the value; a plain one is sealed with none."""
    try:
        return (
            stored.startswith(ENCRYPTED_PREFIX)
            and decrypt(stored, [key], context) != ""
        )
    except DecryptionError:
        return False
