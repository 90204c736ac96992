"""Secrets at rest: AES-256-GCM and HMAC with the keys of `SECRETS_KEY` (spec 9.2).

Keys derived from `SECRET_KEY` open values that were sealed before `SECRETS_KEY` was
set.

`context` is authenticated: it names owner and purpose, so that a value copied to
another row cannot be opened.
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
_VERSION = b"\x01"


@dataclass(frozen=True, slots=True)
class ResealingResult:
    resealed: int = 0
    unreadable: int = 0


class UnsealingError(Exception):
    """No key opens the value: wrong key, wrong context, or damaged data."""


def seal(plain: bytes, context: str) -> bytes:
    nonce = os.urandom(NONCE_BYTES)
    cipher = AESGCM(_keys.sealing[0])
    return _VERSION + nonce + cipher.encrypt(nonce, plain, context.encode())


def unseal(sealed: bytes | memoryview, context: str) -> bytes:
    # A BinaryField may be read as a memoryview.
    sealed = bytes(sealed)
    if not sealed.startswith(_VERSION):
        raise UnsealingError
    return decrypt_bytes(sealed[len(_VERSION) :], _keys.sealing, context)


def seal_again(sealed: bytes | memoryview, context: str) -> bytes | None:
    """Return None if the current key sealed the value."""
    try:
        decrypt_bytes(bytes(sealed)[len(_VERSION) :], _keys.sealing[:1], context)
    except UnsealingError:
        return seal(unseal(sealed, context), context)
    return None


def hash_secret(secret: str, context: str, key: bytes | None = None) -> bytes:
    # The length keeps context and secret apart.
    message = f"{len(context)}:{context}:{secret}".encode()
    return hmac.digest(key or _keys.hashing[0], message, "sha256")


def is_hash_of(stored: bytes | memoryview, secret: str, context: str) -> bool:
    stored = bytes(stored)
    matches = [
        hmac.compare_digest(stored, hash_secret(secret, context, key))
        for key in _keys.hashing
    ]
    return any(matches)


def encrypt_bytes(plain: bytes, key: bytes, context: str) -> bytes:
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, context.encode())


def decrypt_bytes(data: bytes, keys: Sequence[bytes], context: str) -> bytes:
    nonce, ciphertext = data[:NONCE_BYTES], data[NONCE_BYTES:]
    for key in keys:
        try:
            return AESGCM(key).decrypt(nonce, ciphertext, context.encode())
        # A nonce that is too short is a ValueError.
        except (InvalidTag, ValueError):
            continue
    raise UnsealingError


@functools.lru_cache(maxsize=32)
def _expand(key: bytes, info: bytes) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(key)


class _Keys:
    """The current key comes first."""

    @property
    def sealing(self) -> list[bytes]:
        secret_keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
        derived = [
            _expand(k.encode(), b"household-ledger sealing") for k in secret_keys
        ]
        return [*settings.SECRETS_KEYS, *derived]

    @property
    def hashing(self) -> list[bytes]:
        # A key has one use only.
        info = b"household-ledger hashes of secrets"
        return [_expand(key, info) for key in self.sealing]


_keys = _Keys()
