"""The keys of personal tokens: `hlt_`, 43 random characters and a checksum of 6.

Prefix and checksum let secret scanners find a token in a text, and let the service tell
a mistyped one without a look into the database.
"""

import secrets
import string
import zlib

PREFIX = "hlt_"
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
# Of 62 characters each: 256 bits.
SECRET_LENGTH = 43
CHECKSUM_LENGTH = 6
KEY_LENGTH = len(PREFIX) + SECRET_LENGTH + CHECKSUM_LENGTH


def make_token_key() -> str:
    """Return a new random key."""
    secret = "".join(secrets.choice(ALPHABET) for _ in range(SECRET_LENGTH))
    return f"{PREFIX}{secret}{compute_checksum(PREFIX + secret)}"


def compute_checksum(text: str) -> str:
    """Return the CRC-32 of the text in base 62, with leading zeros."""
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


def is_malformed_token(key: str) -> bool:
    """Return True if the key looks like that of a token and has a wrong checksum.

    A session key may begin with the same letters, but is shorter.
    """
    if len(key) != KEY_LENGTH or not key.startswith(PREFIX):
        return False
    return compute_checksum(key[:-CHECKSUM_LENGTH]) != key[-CHECKSUM_LENGTH:]
