"""Arithmetic of time-based codes (RFC 6238): SHA-1, 6 digits, steps of 30 seconds."""

import hmac

import pyotp

STEP_SECONDS = 30
DIGITS = 6
# A clock may be one step off, and a person slow.
TOLERATED_STEPS = (0, -1, 1)
# 160 bits, as RFC 4226 recommends.
SEED_CHARACTERS = 32


def make_seed() -> str:
    """Return a random seed in base 32, as authenticator apps take it."""
    return pyotp.random_base32(SEED_CHARACTERS)


def build_uri(seed: str, login_id: str, service: str) -> str:
    """Return the `otpauth:` URI for a QR code."""
    return pyotp.TOTP(seed).provisioning_uri(name=login_id, issuer_name=service)


def find_step(seed: str, code: str, now: float) -> int | None:
    """Return the step whose code this is, None for a wrong one.

    `now` is in seconds since the epoch.
    """
    totp, current = pyotp.TOTP(seed), int(now) // STEP_SECONDS
    for offset in TOLERATED_STEPS:
        step = current + offset
        if hmac.compare_digest(totp.generate_otp(step).encode(), code.encode()):
            return step
    return None
