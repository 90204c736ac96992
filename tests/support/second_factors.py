"""Members with a second factor, and the codes of their authenticator apps."""

import time
from typing import Any

import pyotp
from django.utils import timezone

from accounts.login.recovery_codes import hash_codes, make_codes, store_codes
from accounts.models import LoginTicket, Member, TotpFactor
from core.sealing import seal
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD

SEED = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
LOGIN = "/api/auth/login"
SECOND_STEP = "/api/auth/login/second-factor"
FACTORS = "/api/auth/factors"
TOTP = f"{FACTORS}/totp"
RECOVERY = f"{FACTORS}/recovery-codes"
# Code and extra field of the problem where a login is too long ago.
STALE = ("REAUTHENTICATION_REQUIRED", "methods")


def give_totp(member: Member) -> None:
    """Give the member an authenticator app with `SEED`, without recovery codes."""
    TotpFactor.objects.create(
        member=member,
        sealed_seed=seal(SEED.encode(), f"totp {member.pk}"),
        confirmed_at=timezone.now(),
    )
    member.has_second_factor = True
    member.save_fields("has_second_factor")


def give_recovery_codes(member: Member) -> list[str]:
    codes = make_codes()
    store_codes(member, hash_codes(codes))
    return codes


def code_now(*, steps: int = 0) -> str:
    """Return what the app shows now, or that many steps later."""
    return pyotp.TOTP(SEED).at(int(time.time()) + 30 * steps)


def wrong_code() -> str:
    """Return six digits that are no code of now."""
    valid = {code_now(steps=steps) for steps in (-1, 0, 1)}
    return next(f"{n:06}" for n in range(4) if f"{n:06}" not in valid)


def begin_login(member: Member, **body: Any) -> Any:
    """Return the answer to the first step."""
    credentials = {"loginId": member.login_id, "password": PASSWORD}
    return JSONClient().send("POST", LOGIN, credentials | body)


def get_ticket(member: Member, **body: Any) -> str:
    response = begin_login(member, **body)
    assert response.status_code == 401, response.content
    ticket: str = response.data["ticket"]
    return ticket


def complete_login(ticket: str, code: str, **extra: Any) -> Any:
    """Return the answer to the second step."""
    body = {"ticket": ticket, "code": code}
    return JSONClient().send("POST", SECOND_STEP, body, **extra)


def count_tickets(member: Member) -> int:
    return LoginTicket.objects.filter(member=member).count()
