"""The list of members: filters, search, and a count that a million cannot slow."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from accounts.member_counters import count_members
from accounts.models import Member
from core.api.pagination import Page

MOST_HITS = 10_000
"""As far as the hits of a search are counted, and its pages go."""
SEARCHED = ("login_id", "display_name", "email")


@dataclass(frozen=True, slots=True)
class MemberFilter:
    """Which members are asked for; empty asks for all."""

    search: str = ""
    role: str = ""
    status: str = ""
    plan: str = ""

    @property
    def kind(self) -> dict[str, str]:
        given = {"role": self.role, "status": self.status, "plan": self.plan}
        return {name: value for name, value in given.items() if value}


def read_page_of_members(
    wanted: MemberFilter, page: Page, now: datetime
) -> tuple[int, list[Member]]:
    """The count and one page without pictures, the newest member first.

    Without a search the count is a kept one; with one it is exact up to `MOST_HITS`.
    """
    rows = find_members(wanted, now).order_by("-id").defer("profile_image")
    if not wanted.search:
        count = count_members(now, **wanted.kind)
        return count, page.cut(rows)
    hits = rows[:MOST_HITS]
    found = page.cut(hits)
    is_last = len(found) < page.size and (found or page.number == 1)
    return page.offset + len(found) if is_last else hits.count(), found


def find_members(wanted: MemberFilter, now: datetime) -> QuerySet[Member]:
    """Each word of the search is somewhere in login id, name or email."""
    rows = Member.objects.all()
    for word in wanted.search.split():
        rows = rows.filter(contains(word))
    match wanted.plan:
        case Member.Plan.PREMIUM:
            rows = rows.filter(plan=Member.Plan.PREMIUM).exclude(_has_run_out(now))
        case Member.Plan.FREE:
            rows = rows.filter(Q(plan=Member.Plan.FREE) | _has_run_out(now))
    return rows.filter(**{k: v for k, v in wanted.kind.items() if k != "plan"})


def contains(word: str) -> Q:
    """Whether login id, name or email contains the word, in any letter case.

    The trigram index `member_search` answers this for three letters or more.
    """
    return Q(*((f"{name}__icontains", word) for name in SEARCHED), _connector=Q.OR)


def _has_run_out(now: datetime) -> Q:
    return Q(
        plan=Member.Plan.PREMIUM,
        plan_expires_at__isnull=False,
        plan_expires_at__lte=now,
        plan_auto_renew=False,
    )
