"""Secrets at rest: sealed values and hashes, keys that come, change and go missing."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from core.sealing import (
    UnsealingError,
    hash_secret,
    is_hash_of,
    seal,
    seal_again,
    unseal,
)

PLAIN = "비밀 secret".encode()
KEY, OTHER_KEY = bytes(range(32)), bytes(range(32, 64))


@pytest.fixture(autouse=True)
def keyed(settings: Any) -> None:
    settings.SECRETS_KEYS = [KEY]
    settings.SECRET_KEY_FALLBACKS = []


@pytest.mark.parametrize("plain", [b"", b"\x00", PLAIN, b"x" * 100_000])
def test_sealed_value_opens_to_itself(plain: bytes) -> None:
    sealed = seal(plain, "member:1")
    assert unseal(sealed, "member:1") == plain
    assert unseal(memoryview(sealed), "member:1") == plain


def test_sealed_value_is_version_nonce_ciphertext_and_tag() -> None:
    sealed = seal(PLAIN, "member:1")
    assert PLAIN not in sealed
    assert sealed[0] == 1
    assert len(sealed) == 1 + 12 + len(PLAIN) + 16
    assert AESGCM(KEY).decrypt(sealed[1:13], sealed[13:], b"member:1") == PLAIN


def test_each_sealing_has_a_fresh_nonce() -> None:
    assert len({seal(PLAIN, "member:1") for _ in range(50)}) == 50


def test_value_of_another_context_does_not_open() -> None:
    with pytest.raises(UnsealingError):
        unseal(seal(PLAIN, "member:1"), "member:2")


def test_value_of_another_key_does_not_open(settings: Any) -> None:
    sealed = seal(PLAIN, "member:1")
    settings.SECRETS_KEYS = [OTHER_KEY]
    with pytest.raises(UnsealingError):
        unseal(sealed, "member:1")


@pytest.mark.parametrize("position", [0, 1, 12, 13, -1])
def test_any_changed_byte_makes_a_value_unreadable(position: int) -> None:
    damaged = bytearray(seal(PLAIN, "member:1"))
    damaged[position] ^= 1
    with pytest.raises(UnsealingError):
        unseal(bytes(damaged), "member:1")


@pytest.mark.parametrize("length", [0, 1, 5, 13, 28])
def test_value_that_is_cut_off_does_not_open(length: int) -> None:
    with pytest.raises(UnsealingError):
        unseal(seal(PLAIN, "member:1")[:length], "member:1")


def test_older_keys_still_open_and_the_first_one_seals(settings: Any) -> None:
    old = seal(PLAIN, "member:1")
    settings.SECRETS_KEYS = [OTHER_KEY, KEY]
    assert unseal(old, "member:1") == PLAIN
    new = seal_again(old, "member:1")
    assert new is not None
    assert seal_again(new, "member:1") is None
    settings.SECRETS_KEYS = [OTHER_KEY]
    assert unseal(new, "member:1") == PLAIN
    with pytest.raises(UnsealingError):
        seal_again(old, "member:1")


def test_without_a_key_one_is_derived_from_the_secret_key(settings: Any) -> None:
    settings.SECRETS_KEYS = []
    sealed = seal(PLAIN, "member:1")
    assert unseal(sealed, "member:1") == PLAIN
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-" * 8
    assert unseal(sealed, "member:1") == PLAIN
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(UnsealingError):
        unseal(sealed, "member:1")


def test_a_key_that_is_set_later_takes_nothing_away(settings: Any) -> None:
    settings.SECRETS_KEYS = []
    sealed, hashed = seal(PLAIN, "member:1"), hash_secret("1234", "code:1")
    settings.SECRETS_KEYS = [KEY]
    assert unseal(sealed, "member:1") == PLAIN
    assert is_hash_of(hashed, "1234", "code:1")


def test_derived_key_is_not_the_secret_key_itself(settings: Any) -> None:
    settings.SECRETS_KEYS = []
    settings.SECRET_KEY = "k" * 32
    sealed = seal(PLAIN, "member:1")
    settings.SECRETS_KEYS, settings.SECRET_KEY = [b"k" * 32], "other"
    with pytest.raises(UnsealingError):
        unseal(sealed, "member:1")


def test_hash_of_a_secret_fits_it_alone(settings: Any) -> None:
    stored = hash_secret("WDJBMJHT", "code:1")
    assert len(stored) == 32
    assert is_hash_of(stored, "WDJBMJHT", "code:1")
    assert not is_hash_of(stored, "WDJBMJHX", "code:1")
    assert not is_hash_of(stored, "WDJBMJHT", "code:2")
    # What is between the two does not move.
    assert hash_secret("b:c", "a") != hash_secret("c", "a:b")
    settings.SECRETS_KEYS = [OTHER_KEY, KEY]
    assert is_hash_of(stored, "WDJBMJHT", "code:1")
    settings.SECRETS_KEYS = [OTHER_KEY]
    assert not is_hash_of(stored, "WDJBMJHT", "code:1")
