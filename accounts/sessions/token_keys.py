"""Keys of personal tokens: `hlt_`, 43 random characters, a checksum of 6.

Secret scanners recognize the prefix; the checksum saves the query for a mistyped key.
"""

import secrets
import string
import zlib

PREFIX = "hlt_"
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
# 43 characters of 62 kinds are 256 bits.
SECRET_LENGTH = 43
CHECKSUM_LENGTH = 6
KEY_LENGTH = len(PREFIX) + SECRET_LENGTH + CHECKSUM_LENGTH


def make_token_key() -> str:
    secret = "".join(secrets.choice(ALPHABET) for _ in range(SECRET_LENGTH))
    return f"{PREFIX}{secret}{compute_checksum(PREFIX + secret)}"


def compute_checksum(text: str) -> str:
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def is_malformed_token(key: str) -> bool:
    """Return True for a wrong checksum; session keys are shorter."""
    if len(key) != KEY_LENGTH or not key.startswith(PREFIX):
        return False
    return compute_checksum(key[:-CHECKSUM_LENGTH]) != key[-CHECKSUM_LENGTH:]
