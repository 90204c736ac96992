"""Time-based codes (RFC 6238): SHA-1, 6 digits, steps of 30 seconds."""

import hmac

import pyotp

STEP_SECONDS = 30
DIGITS = 6
TOLERATED_STEPS = (0, -1, 1)
# RFC 4226 recommends 160 bits.
SEED_CHARACTERS = 32


def make_seed() -> str:
    return pyotp.random_base32(SEED_CHARACTERS)


def build_uri(seed: str, login_id: str, service: str) -> str:
    return pyotp.TOTP(seed).provisioning_uri(name=login_id, issuer_name=service)


def find_step(seed: str, code: str, now: float) -> int | None:
    """Return the step of a code, None for a wrong one; `now` is in epoch seconds."""
    totp, current = pyotp.TOTP(seed), int(now) // STEP_SECONDS
    for offset in TOLERATED_STEPS:
        step = current + offset
        if hmac.compare_digest(totp.generate_otp(step).encode(), code.encode()):
            return step
    return None
