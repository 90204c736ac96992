"""Password hashing as configured for production."""

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
    assert encoded != make_password("correct-horse-9")
    assert not identify_hasher(encoded).must_update(encoded)


def test_costlier_and_older_hashes_are_still_understood_and_renewed() -> None:
    older = PBKDF2PasswordHasher().encode("correct-horse-9", "salt" * 6, 1000)
    renewed: list[str] = []
    assert check_password("correct-horse-9", older, setter=renewed.append)
    assert renewed == ["correct-horse-9"]
