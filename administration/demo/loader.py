"""The demo installation."""

from dataclasses import dataclass
from datetime import datetime
from random import Random

from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from accounts.models.members import MODERATORS
from accounts.signup.signup import SignupData, create_member
from administration.demo.community import (
    create_board,
    create_neighbors,
    create_purchases,
)
from administration.demo.figures import create_figures
from administration.demo.moderation import create_cases
from core.db.transactions import retry_on_conflict
from ledger.demo.loader import create_demo_ledger

SEED = 20_240_101


@dataclass(frozen=True, slots=True)
class Login:
    login_id: str
    display_name: str
    kind: str


LOGINS = (
    Login("demo-free", "무료 회원", "FREE"),
    Login("demo-premium", "데모 회원", "PREMIUM"),
    Login("demo-moderator", "게시판 지기", "MODERATOR"),
    Login("demo-admin", "운영자", "ADMIN"),
)


@dataclass(frozen=True, slots=True)
class DemoCounts:
    members: int
    entries: int
    trades: int
    posts: int
    cases: int
    purchases: int


@retry_on_conflict
@transaction.atomic
def create_demo_installation(password: str, now: datetime) -> DemoCounts:
    """Create members and data in one transaction.

    Raises `DomainError` if a login id is taken, or the password is too weak.
    """
    rng = Random(SEED)  # noqa: S311  # repeatable, not secret
    members = {login.kind: _create_login(login, password) for login in LOGINS}
    neighbors = create_neighbors(now, rng)
    today = timezone.localdate(now)
    ledger = create_demo_ledger(members["PREMIUM"], now, today)
    posts = create_board(members["ADMIN"], neighbors, now, rng)
    cases = create_cases(members["MODERATOR"], members["FREE"], neighbors, now)
    purchases = create_purchases(neighbors, now)
    everybody = [*members.values(), *neighbors]
    create_figures(everybody, now, rng)
    return DemoCounts(
        members=len(everybody),
        entries=ledger.entries,
        trades=ledger.trades,
        posts=posts,
        cases=cases,
        purchases=purchases,
    )


def _create_login(login: Login, password: str) -> Member:
    email = f"{login.login_id}@example.com"
    is_staff = login.kind in MODERATORS
    role = Member.Role(login.kind) if is_staff else Member.Role.MEMBER
    member = create_member(
        SignupData(login.login_id, password, login.display_name, email, role=role)
    )
    if login.kind == "PREMIUM":
        member.plan = Member.Plan.PREMIUM
        member.save_fields("plan")
    return member
