"""Recovery codes: each stands for the second factor once (spec 2.16).

The first two letters of a code name the hash to compute.
"""

import base64
import itertools
import secrets
import string
import textwrap

from django.contrib.auth.hashers import check_password, make_password

from accounts.models import Member, RecoveryCode

CODE_COUNT = 10
MAX_CODE_LENGTH = 40
INDEX_LENGTH = 2
SECRET_LENGTH = 12
# 60 bits in 12 characters.
_SECRET_BYTES = 8
_GROUP_LENGTH = 4


def make_codes() -> list[str]:
    """Return codes such as `QK-3JAX-7QWM-2PLD`."""
    letters = itertools.product(string.ascii_uppercase, repeat=INDEX_LENGTH)
    indexes = secrets.SystemRandom().sample(list(letters), CODE_COUNT)
    codes = []
    for index in sorted(indexes):
        characters = base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()
        groups = textwrap.wrap(characters[:SECRET_LENGTH], _GROUP_LENGTH)
        codes.append("-".join(["".join(index), *groups]))
    return codes


def hash_codes(codes: list[str]) -> list[tuple[str, str]]:
    """Return index and hash of each code, which takes a second."""
    return [
        (text[:INDEX_LENGTH], make_password(text[INDEX_LENGTH:]))
        for text in map(normalize_code, codes)
    ]


def store_codes(member: Member, hashes: list[tuple[str, str]]) -> None:
    """Replace the codes; the caller has locked the member."""
    RecoveryCode.objects.filter(member=member).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(member=member, index=index, hash=hashed)
        for index, hashed in hashes
    )


def find_code(member: Member, code: str) -> RecoveryCode | None:
    text = normalize_code(code)
    index, secret = text[:INDEX_LENGTH], text[INDEX_LENGTH:]
    row = RecoveryCode.objects.filter(member=member, index=index, spent_at=None).first()
    if row is None:
        # Indexes cannot be probed by time.
        make_password(secret)
        return None
    return row if check_password(secret, row.hash) else None


def list_code_methods(member: Member) -> list[str]:
    if not member.has_second_factor:
        return []
    has_recovery_codes = RecoveryCode.objects.filter(
        member=member, spent_at=None
    ).exists()
    return ["TOTP", "RECOVERY_CODE"] if has_recovery_codes else ["TOTP"]


def normalize_code(code: str) -> str:
    return "".join(code.split()).replace("-", "").upper()
