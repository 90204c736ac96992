"""Password hashing as configured for production."""

import time
from typing import Any

import pytest
from django.contrib.auth.hashers import (
    PBKDF2PasswordHasher,
    check_password,
    identify_hasher,
    make_password,
)

from config import settings as real_settings


@pytest.fixture(autouse=True)
def real_hashers(settings: Any) -> None:
    settings.PASSWORD_HASHERS = real_settings.PASSWORD_HASHERS


def test_passwords_are_hashed_by_argon2id_with_the_recommended_cost() -> None:
    encoded = make_password("correct-horse-9")
    assert encoded.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert check_password("correct-horse-9", encoded)
    assert not check_password("correct-horse-8", encoded)


def test_same_password_never_gives_the_same_hash() -> None:
    assert make_password("correct-horse-9") != make_password("correct-horse-9")


def test_own_hashes_need_no_renewal() -> None:
    encoded = make_password("correct-horse-9")
    assert not identify_hasher(encoded).must_update(encoded)


def test_costlier_and_older_hashes_are_still_understood_and_renewed() -> None:
    older = PBKDF2PasswordHasher().encode("correct-horse-9", "salt" * 6, 1000)
    renewed: list[str] = []
    assert check_password("correct-horse-9", older, setter=renewed.append)
    assert renewed == ["correct-horse-9"]


def test_one_hash_takes_well_under_a_second() -> None:
    started = time.perf_counter()
    make_password("correct-horse-9")
    assert time.perf_counter() - started < 1
