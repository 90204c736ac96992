"""Encryption of account numbers: AES-256-GCM, random nonce (spec 3.3).

`context` is authenticated data: a value copied to another member's row cannot be
decrypted there.
"""

import base64
from collections.abc import Sequence

from core.sealing import UnsealingError, decrypt_bytes, encrypt_bytes

# The number is the version of the format.
ENCRYPTED_PREFIX = "sealed:1:"
# Fills 255 characters with prefix, nonce and tag in base64.
MAX_PLAINTEXT_BYTES = 155


class DecryptionError(Exception):
    """No key decrypts the value."""


def encrypt(text: str, keys: Sequence[bytes], context: str) -> str:
    """Encrypt a text, unless it is empty or there is no key."""
    if not keys or not text:
        return text
    data = encrypt_bytes(text.encode(), keys[0], context)
    return ENCRYPTED_PREFIX + base64.urlsafe_b64encode(data).decode()


def decrypt(stored: str, keys: Sequence[bytes], context: str) -> str:
    """Decrypt a value, which may be plain; raise `DecryptionError` if no key fits."""
    if not stored.startswith(ENCRYPTED_PREFIX):
        return stored
    try:
        data = base64.urlsafe_b64decode(stored.removeprefix(ENCRYPTED_PREFIX))
        return decrypt_bytes(data, keys, context).decode()
    except (UnsealingError, ValueError):
        raise DecryptionError from None


def can_decrypt(stored: str, keys: Sequence[bytes], context: str) -> bool:
    try:
        decrypt(stored, keys, context)
    except DecryptionError:
        return False
    return True


def is_encrypted_with(stored: str, key: bytes, context: str) -> bool:
    return stored.startswith(ENCRYPTED_PREFIX) and can_decrypt(stored, [key], context)


def account_number_associated_data(member_id: int) -> str:
    return f"account:{member_id}"
