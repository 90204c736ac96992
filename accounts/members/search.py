"""Search for members."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Q, QuerySet
from rest_framework.request import Request

from accounts.members.counters import count_members
from accounts.models import Member
from accounts.models.members import expired_plan_condition
from accounts.sessions.authentication import current_member
from core.api.pagination import PageRequest

MAX_COUNTED_HITS = 10_000
SEARCH_FIELDS = ("login_id", "display_name", "email")


def own_email_condition() -> Q:
    """Match addresses that count as the member's own.

    They are verified, unchanged since the sign-up, or entered with fresh
    authentication. A session's thief or an administrator may have entered another.
    """
    is_proved = Q(verified_email=F("email")) | Q(authenticated_email=F("email"))
    return Q(email_changed_at=None) | (is_proved & ~Q(email=""))


def get_full_member(request: Request) -> Member:
    """Return the caller with all fields; the session has only some."""
    return Member.objects.get(pk=current_member(request).pk)


@dataclass(frozen=True, slots=True)
class MemberFilter:
    search: str = ""
    role: str = ""
    status: str = ""
    plan: str = ""

    @property
    def column_filters(self) -> dict[str, str]:
        given = {"role": self.role, "status": self.status, "plan": self.plan}
        return {name: value for name, value in given.items() if value}


def list_members_page(
    filters: MemberFilter, page: PageRequest, now: datetime
) -> tuple[int, list[Member]]:
    """Return the total and one page, newest first.

    The total of a search is exact up to `MAX_COUNTED_HITS`.
    """
    rows = search_members(filters, now).order_by("-id").defer("profile_image")
    if not filters.search:
        count = count_members(now, **filters.column_filters)
        return count, page.slice_rows(rows)
    hits = rows[:MAX_COUNTED_HITS]
    members = page.slice_rows(hits)
    # A page that is not full is the last.
    is_last = len(members) < page.size and (members or page.number == 1)
    return page.offset + len(members) if is_last else hits.count(), members


def search_members(filters: MemberFilter, now: datetime) -> QuerySet[Member]:
    rows = Member.objects.all()
    for word in filters.search.split():
        rows = rows.filter(search_condition(word))
    expired = expired_plan_condition(now)
    match filters.plan:
        case Member.Plan.PREMIUM:
            rows = rows.filter(plan=Member.Plan.PREMIUM).exclude(expired)
        case Member.Plan.FREE:
            rows = rows.filter(Q(plan=Member.Plan.FREE) | expired)
    return rows.filter(
        **{k: v for k, v in filters.column_filters.items() if k != "plan"}
    )


def search_condition(word: str) -> Q:
    """Match a word in login id, name or email.

    The trigram index `member_search` serves words of three letters or more.
    """
    return Q(*((f"{name}__icontains", word) for name in SEARCH_FIELDS), _connector=Q.OR)
