"""The list of members: filters, search, and a count that a million cannot slow."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from accounts.member_counters import count_members
from accounts.models import Member
from core.api.pagination import PageRequest

MAX_COUNTED_HITS = 10_000
"""As far as the hits of a search are counted, and its pages go."""
SEARCH_FIELDS = ("login_id", "display_name", "email")


@dataclass(frozen=True, slots=True)
class MemberFilter:
    """Which members are asked for; empty asks for all."""

    search: str = ""
    role: str = ""
    status: str = ""
    plan: str = ""

    @property
    def column_filters(self) -> dict[str, str]:
        given = {"role": self.role, "status": self.status, "plan": self.plan}
        return {name: value for name, value in given.items() if value}


def list_members_page(
    wanted: MemberFilter, page: PageRequest, now: datetime
) -> tuple[int, list[Member]]:
    """The count and one page without pictures, the newest member first.

    Without a search the count is a kept one; with one it is exact up to `MAX_COUNTED_HITS`.
    """
    rows = search_members(wanted, now).order_by("-id").defer("profile_image")
    if not wanted.search:
        count = count_members(now, **wanted.column_filters)
        return count, page.slice_rows(rows)
    hits = rows[:MAX_COUNTED_HITS]
    found = page.slice_rows(hits)
    is_last = len(found) < page.size and (found or page.number == 1)
    return page.offset + len(found) if is_last else hits.count(), found


def search_members(wanted: MemberFilter, now: datetime) -> QuerySet[Member]:
    """Each word of the search is somewhere in login id, name or email."""
    rows = Member.objects.all()
    for word in wanted.search.split():
        rows = rows.filter(search_condition(word))
    match wanted.plan:
        case Member.Plan.PREMIUM:
            rows = rows.filter(plan=Member.Plan.PREMIUM).exclude(
                _expired_plan_condition(now)
            )
        case Member.Plan.FREE:
            rows = rows.filter(Q(plan=Member.Plan.FREE) | _expired_plan_condition(now))
    return rows.filter(
        **{k: v for k, v in wanted.column_filters.items() if k != "plan"}
    )


def search_condition(word: str) -> Q:
    """Whether login id, name or email contains the word, in any letter case.

    The trigram index `member_search` answers this for three letters or more.
    """
    return Q(*((f"{name}__icontains", word) for name in SEARCH_FIELDS), _connector=Q.OR)


def _expired_plan_condition(now: datetime) -> Q:
    return Q(
        plan=Member.Plan.PREMIUM,
        plan_expires_at__isnull=False,
        plan_expires_at__lte=now,
        plan_auto_renew=False,
    )
