"""Encryption of account numbers at rest: AES-256-GCM, random nonce (spec 3.3).

Pure: keys are arguments, the current one first, older ones after it. `context` is
authenticated but not encrypted: a value that is copied to another member's row cannot
be decrypted there.
"""

import base64
from collections.abc import Sequence

from core.sealing import UnsealingError, decrypt_bytes, encrypt_bytes

# Marks encrypted values, with the version of their format.
ENCRYPTED_PREFIX = "sealed:1:"
# With prefix, nonce and tag in base64 this fills a column of 255 characters.
MAX_PLAINTEXT_BYTES = 155


class DecryptionError(Exception):
    """None of the keys decrypts the value."""


def encrypt(text: str, keys: Sequence[bytes], context: str) -> str:
    """Return the value to store: encrypted, or as it is if empty or without a key."""
    if not keys or not text:
        return text
    data = encrypt_bytes(text.encode(), keys[0], context)
    return ENCRYPTED_PREFIX + base64.urlsafe_b64encode(data).decode()


def decrypt(stored: str, keys: Sequence[bytes], context: str) -> str:
    """Return the text of a stored value; plain values are returned as they are.

    Raises `DecryptionError` if no key fits.
    """
    if not stored.startswith(ENCRYPTED_PREFIX):
        return stored
    try:
        data = base64.urlsafe_b64decode(stored.removeprefix(ENCRYPTED_PREFIX))
        return decrypt_bytes(data, keys, context).decode()
    except (UnsealingError, ValueError):
        raise DecryptionError from None


def is_encrypted_with(stored: str, key: bytes, context: str) -> bool:
    """Return True if the value is encrypted with this key."""
    try:
        return (
            stored.startswith(ENCRYPTED_PREFIX)
            and decrypt(stored, [key], context) != ""
        )
    except DecryptionError:
        return False
