"""The demo installation."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from django.db import transaction
from django.utils import timezone

from accounts.models import Member
from accounts.models.members import MODERATORS
from accounts.signup.signup import SignupData, create_member
from administration.demo.community import (
    create_neighbors,
    create_purchases,
    plan_board,
)
from administration.demo.figures import create_activity, create_figures
from administration.demo.moderation import plan_cases
from administration.demo.timeline import Timeline
from board.models import ModerationCase
from core.db.transactions import retry_on_conflict
from ledger.demo.loader import create_demo_ledger

SEED = 20_240_101


@dataclass(frozen=True, slots=True)
class Login:
    login_id: str
    display_name: str
    kind: str
    joined_days_ago: int


LOGINS = (
    Login("demo-free", "무료 회원", "FREE", 60),
    # Before the first entry of the ledger.
    Login("demo-premium", "데모 회원", "PREMIUM", 4 * 366),
    Login("demo-moderator", "게시판 지기", "MODERATOR", 120),
    Login("demo-admin", "운영자", "ADMIN", 5 * 366),
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
    members = {login.kind: _create_login(login, password, now) for login in LOGINS}
    neighbors = create_neighbors(now, rng)
    today = timezone.localdate(now)
    ledger = create_demo_ledger(members["PREMIUM"], now, today)
    timeline = Timeline()
    posts = plan_board(timeline, members["ADMIN"], neighbors, now, rng)
    plan_cases(timeline, members["MODERATOR"], members["FREE"], neighbors, now)
    timeline.run()
    purchases = create_purchases(neighbors, now)
    entries = ledger.entries + create_activity(neighbors, now, rng)
    create_figures(now)
    return DemoCounts(
        members=len(members) + len(neighbors),
        entries=entries,
        trades=ledger.trades,
        posts=posts,
        cases=ModerationCase.objects.count(),
        purchases=purchases,
    )


def find_demo() -> list[Member]:
    """Return the members of an earlier demo as whom people log in."""
    login_ids = [login.login_id for login in LOGINS]
    return list(Member.objects.filter(login_id__in=login_ids).order_by("pk"))


def _create_login(login: Login, password: str, now: datetime) -> Member:
    email = f"{login.login_id}@example.com"
    is_staff = login.kind in MODERATORS
    role = Member.Role(login.kind) if is_staff else Member.Role.MEMBER
    member = create_member(
        SignupData(login.login_id, password, login.display_name, email, role=role)
    )
    member.created_at = now - timedelta(days=login.joined_days_ago)
    if login.kind == "PREMIUM":
        member.plan = Member.Plan.PREMIUM
    member.save_fields("plan", "created_at")
    return member
