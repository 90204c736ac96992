"""Secrets at rest: AES-256-GCM and HMAC with the keys of `SECRETS_KEY` (spec 9.2).

The current key comes first, older ones after it. Without any, the keys are derived from
`SECRET_KEY` and its fallbacks. Those open what was sealed before a key was set, too.

`context` is authenticated but not encrypted: it says whose value it is and what for, so
that a value copied to another row cannot be opened there.
"""

import functools
import hmac
import os
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

KEY_BYTES = 32
NONCE_BYTES = 12
# The first byte of a sealed value: the version of its format.
_VERSION = b"\x01"


@dataclass(frozen=True, slots=True)
class ResealingResult:
    """Counts of values: sealed again with the current key, and opened by no key."""

    resealed: int = 0
    unreadable: int = 0


class UnsealingError(Exception):
    """No key opens the value: its key or context is another one, or it is damaged."""


def seal(plain: bytes, context: str) -> bytes:
    """Return the value to store: version, nonce, ciphertext and tag."""
    return _VERSION + encrypt_bytes(plain, _list_keys()[0], context)


def unseal(sealed: bytes | memoryview, context: str) -> bytes:
    """Return what was sealed under this context; raise `UnsealingError` otherwise."""
    # A BinaryField may be read as a memoryview.
    sealed = bytes(sealed)
    if not sealed.startswith(_VERSION):
        raise UnsealingError
    return decrypt_bytes(sealed[len(_VERSION) :], _list_keys(), context)


def seal_again(sealed: bytes | memoryview, context: str) -> bytes | None:
    """Return the value sealed with the current key, None if it is already.

    Raises `UnsealingError` if no key opens it.
    """
    try:
        decrypt_bytes(bytes(sealed)[len(_VERSION) :], _list_keys()[:1], context)
    except UnsealingError:
        return seal(unseal(sealed, context), context)
    return None


def hash_secret(secret: str, context: str) -> bytes:
    """Return the HMAC-SHA-256 under which a short secret is stored."""
    return _hash_with(_list_keys()[0], secret, context)


def is_hash_of(stored: bytes | memoryview, secret: str, context: str) -> bool:
    """Return True if `stored` is the hash of the secret, with any of the keys."""
    stored = bytes(stored)
    matches = [
        hmac.compare_digest(stored, _hash_with(key, secret, context))
        for key in _list_keys()
    ]
    return any(matches)


def encrypt_bytes(plain: bytes, key: bytes, context: str) -> bytes:
    """Return a fresh nonce, the ciphertext and its tag."""
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, context.encode())


def decrypt_bytes(data: bytes, keys: Sequence[bytes], context: str) -> bytes:
    """Return the plain bytes; raise `UnsealingError` if no key fits."""
    nonce, ciphertext = data[:NONCE_BYTES], data[NONCE_BYTES:]
    for key in keys:
        try:
            return AESGCM(key).decrypt(nonce, ciphertext, context.encode())
        # A nonce that is too short is a ValueError.
        except (InvalidTag, ValueError):
            continue
    raise UnsealingError


def _list_keys() -> list[bytes]:
    secret_keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [*settings.SECRETS_KEYS, *(_derive_key(key) for key in secret_keys)]


@functools.lru_cache(maxsize=16)
def _derive_key(secret_key: str) -> bytes:
    return _expand(secret_key.encode(), b"household-ledger sealing")


@functools.lru_cache(maxsize=16)
def _derive_hash_key(key: bytes) -> bytes:
    # A key has one use only.
    return _expand(key, b"household-ledger hashes of secrets")


def _expand(key: bytes, info: bytes) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(key)


def _hash_with(key: bytes, secret: str, context: str) -> bytes:
    # The length keeps context and secret apart.
    message = f"{len(context)}:{context}:{secret}".encode()
    return hmac.digest(_derive_hash_key(key), message, "sha256")
