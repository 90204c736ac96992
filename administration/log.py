"""The audit log for administrators, with the lines about reading it (spec 7.10)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import AuditLogEntry, Member
from accounts.security.audit_log import log_use_of_list
from administration.daily_metrics import start_of

# The same filter is logged once within this time, however many pages are read.
READ_INTERVAL = timedelta(hours=1)
MAX_ID = 2**63 - 1
# Lines of one moment have ids in another order, but not for so long.
MAX_DISORDER = timedelta(hours=1)
# Of the actor, in which the last reading is looked for.
MAX_RECENT_LINES = 100
MAX_FILTER_LENGTH = 400
MAX_CONDITION_LENGTH = 100
# Days beyond them have no start in some time zones.
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(9998, 12, 31)
# Searched words may be names and addresses of members, which would stay for ever.
HIDDEN_VALUES = frozenset({"q"})


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Days are those of the home time zone, both inclusive."""

    actor: int | None = None
    action: str | None = None
    target_type: str | None = None
    target_id: str | None = None
    start: date | None = None
    end: date | None = None


def filter_lines(filters: LogFilter) -> QuerySet[AuditLogEntry]:
    conditions: dict[str, Any] = {
        "actor_id": filters.actor,
        "action": filters.action,
        "target_type": filters.target_type,
        "target_id": filters.target_id,
    }
    chosen = {name: value for name, value in conditions.items() if value is not None}
    return AuditLogEntry.objects.filter(**chosen, **list_day_conditions(filters))


def list_day_conditions(filters: LogFilter) -> dict[str, Any]:
    """Return conditions on times, and on ids around them.

    By the ids PostgreSQL begins to read at the days; by the times alone it would read
    all lines after them.
    """
    lines = AuditLogEntry.objects.all()
    conditions: dict[str, Any] = {}
    if filters.start is not None:
        start = start_of(clamp(filters.start))
        before = lines.filter(at__lt=start - MAX_DISORDER).order_by("-at")
        last = before.values_list("pk", flat=True).first()
        conditions |= {"at__gte": start, "pk__gt": last or 0}
    if filters.end is not None:
        end = start_of(clamp(filters.end) + timedelta(days=1))
        after = lines.filter(at__gte=end + MAX_DISORDER).order_by("at")
        first = after.values_list("pk", flat=True).first()
        conditions |= {"at__lt": end, "pk__lt": MAX_ID if first is None else first}
    return conditions


def clamp(day: date) -> date:
    return min(max(day, FIRST_DAY), LAST_DAY)


def list_lines(
    filters: LogFilter, *, before: int | None, size: int
) -> tuple[list[AuditLogEntry], int | None]:
    """Return lines, the newest first, and the next `before`."""
    rows = filter_lines(filters)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    lines = list(rows.order_by("-pk")[: size + 1])
    next_before = lines[size - 1].pk if len(lines) > size else None
    return lines[:size], next_before


def log_reading(actor: Member, filters: Mapping[str, Any]) -> None:
    """Log that the actor reads the log, unless it is logged with the same filter.

    All pages of a walk have the same filter, so that reading the log does not fill it.
    """
    text = describe_filter(filters)
    recent = AuditLogEntry.objects.filter(actor_id=actor.pk).order_by("-pk")
    since = timezone.now() - READ_INTERVAL
    if not any(is_reading(line, text, since) for line in recent[:MAX_RECENT_LINES]):
        log_use_of_list(actor, AuditLogEntry, AuditLogEntry.Action.READ, text)


def is_reading(line: AuditLogEntry, text: str, since: datetime) -> bool:
    is_read = line.action == AuditLogEntry.Action.READ
    return is_read and line.text == text and line.at > since


def log_export(
    actor: Member, model: Any, count: int, filters: Mapping[str, Any]
) -> None:
    """Log that the actor gets a list as a file."""
    text = f"Rows: {count}. {describe_filter(filters)}".strip()
    log_use_of_list(actor, model, AuditLogEntry.Action.EXPORT, text)


def describe_filter(filters: Mapping[str, Any]) -> str:
    """Return the filter as a sentence, "" without one."""
    written = ", ".join(list_conditions(filters))
    return f"Filter: {written[:MAX_FILTER_LENGTH]}." if written else ""


def list_conditions(filters: Mapping[str, Any]) -> Iterable[str]:
    for name, value in sorted(filters.items()):
        if value is not None and value != "":
            named = name if name in HIDDEN_VALUES else f"{name}={value}"
            yield named[:MAX_CONDITION_LENGTH]
