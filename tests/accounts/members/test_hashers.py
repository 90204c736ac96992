"""Password hashing as configured for production."""

import os
import sys
import threading
from typing import Any

import pytest
from django.contrib.auth.hashers import (
    PBKDF2PasswordHasher,
    check_password,
    identify_hasher,
    make_password,
)

from accounts.login.hashers import hash_in_slot
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


@pytest.mark.skipif(sys.platform != "linux", reason="niceness of threads")
def test_hashes_leave_the_core_to_other_threads() -> None:
    def read_niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    assert hash_in_slot(read_niceness) == read_niceness() + 10


def test_error_of_a_hash_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        hash_in_slot(lambda: 1 // 0)
