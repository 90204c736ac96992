"""Recovery codes: each stands for the second factor once (spec 2.16).

A code is an index of two letters, unlike that of the member's other codes, and 12
characters of base 32. The index says which hash to compute: one for each attempt.
"""

import base64
import secrets
import string

from django.contrib.auth.hashers import check_password, make_password

from accounts.models import Member, RecoveryCode

CODE_COUNT = 10
# However it is written.
MAX_CODE_LENGTH = 40
INDEX_LENGTH = 2
SECRET_LENGTH = 12
# 60 bits in 12 characters.
_SECRET_BYTES = 8
_GROUP_LENGTH = 4


def make_codes() -> list[str]:
    """Return random codes such as `QK-3JAX-7QWM-2PLD`, by their indexes."""
    indexes: set[str] = set()
    while len(indexes) < CODE_COUNT:
        letters = secrets.choice(string.ascii_uppercase) + secrets.choice(
            string.ascii_uppercase
        )
        indexes.add(letters)
    return [_format_code(index + _make_secret()) for index in sorted(indexes)]


def hash_codes(codes: list[str]) -> list[tuple[str, str]]:
    """Return index and hash of each code. It takes the time of ten logins."""
    return [
        (text[:INDEX_LENGTH], make_password(text[INDEX_LENGTH:]))
        for text in map(normalize_code, codes)
    ]


def store_codes(member: Member, hashes: list[tuple[str, str]]) -> None:
    """Replace the member's codes; the caller has locked the member."""
    RecoveryCode.objects.filter(member=member).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(member=member, index=index, hash=hashed)
        for index, hashed in hashes
    )


def find_code(member: Member, code: str) -> RecoveryCode | None:
    """Return the unspent code of the member that this is, None for a wrong one."""
    text = normalize_code(code)
    index, secret = text[:INDEX_LENGTH], text[INDEX_LENGTH:]
    row = RecoveryCode.objects.filter(member=member, index=index, spent_at=None).first()
    if row is None:
        # The same work, so that the time does not tell which indexes there are.
        make_password(secret)
        return None
    return row if check_password(secret, row.hash) else None


def list_code_methods(member: Member) -> list[str]:
    """Return by which codes the member can pass the second factor."""
    if not member.has_second_factor:
        return []
    has_recovery_codes = RecoveryCode.objects.filter(
        member=member, spent_at=None
    ).exists()
    return ["TOTP", "RECOVERY_CODE"] if has_recovery_codes else ["TOTP"]


def normalize_code(code: str) -> str:
    """Return the characters of a code, however it was written."""
    return "".join(code.split()).replace("-", "").upper()


def _make_secret() -> str:
    return base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()[:SECRET_LENGTH]


def _format_code(text: str) -> str:
    groups = [
        text[start : start + _GROUP_LENGTH]
        for start in range(INDEX_LENGTH, len(text), _GROUP_LENGTH)
    ]
    return "-".join([text[:INDEX_LENGTH], *groups])
