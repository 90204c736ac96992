"""The list of members with filters and search, bounded for a million members."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from accounts.member_counters import count_members
from accounts.models import Member
from accounts.models.members import expired_plan_condition
from core.api.pagination import PageRequest

# A search counts no further, and its pages end here.
MAX_COUNTED_HITS = 10_000
SEARCH_FIELDS = ("login_id", "display_name", "email")


@dataclass(frozen=True, slots=True)
class MemberFilter:
    """Filters of the list of members; an empty one is not applied."""

    search: str = ""
    role: str = ""
    status: str = ""
    plan: str = ""

    @property
    def column_filters(self) -> dict[str, str]:
        """Return the filters of role, status and plan that are given."""
        given = {"role": self.role, "status": self.status, "plan": self.plan}
        return {name: value for name, value in given.items() if value}


def list_members_page(
    filters: MemberFilter, page: PageRequest, now: datetime
) -> tuple[int, list[Member]]:
    """Return the total and one page of members, newest first.

    Without a search the total comes from the counters; with one it is exact up to
    `MAX_COUNTED_HITS`. Profile images are not loaded.
    """
    rows = search_members(filters, now).order_by("-id").defer("profile_image")
    if not filters.search:
        count = count_members(now, **filters.column_filters)
        return count, page.slice_rows(rows)
    hits = rows[:MAX_COUNTED_HITS]
    members = page.slice_rows(hits)
    # A page that is not full is the last one and tells the total without a query; an
    # empty page says nothing unless it is the first.
    is_last = len(members) < page.size and (members or page.number == 1)
    return page.offset + len(members) if is_last else hits.count(), members


def search_members(filters: MemberFilter, now: datetime) -> QuerySet[Member]:
    """Return the members that match all words of the search and all filters.

    The filter of the plan compares the effective plan at `now`.
    """
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
    """Return the condition that login id, name or email contains the word.

    Letter case does not matter. The trigram index `member_search` serves words of at
    least three letters.
    """
    return Q(*((f"{name}__icontains", word) for name in SEARCH_FIELDS), _connector=Q.OR)
