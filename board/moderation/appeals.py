"""Appeals: the author says something against a decision, once (spec 5.10)."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models.functions import Lower

from accounts.models import Member
from board.errors import AppealClosedError
from board.locking import lock_members
from board.models import Decision, ModerationCase, OutsideReport, Report
from board.moderation.cases import STANDS, lock_case, lock_unresolved_case
from board.moderation.notes import TELLS_OF_ALL, join_notes
from board.moderation.targets import lock_target
from core.db.rows import fetch_all
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError

APPEAL_TIME = timedelta(days=30)
# Decision `d` of case `c` may be objected to. There is nothing to bring back of what
# its author has deleted, but there may be a silence to end.
_IS_OPEN = f"""
    d.action <> 'DISMISS' AND d.appeal IS NULL AND NOT d.is_final
    AND d.decided_at >= %(since)s
    AND (c.target_gone IS DISTINCT FROM 'AUTHOR' OR d.silence_days IS NOT NULL)
    AND {STANDS}
"""
_FIND = f"""
    SELECT c.id AS told_by, c.id AS case_id, d.decided_at
    FROM board_case c JOIN board_decision d ON d.case_id = c.id
    WHERE c.id = ANY(%(cases)s) AND {_IS_OPEN}
"""  # noqa: S608 - of constants only
# The deed that a case tells its author of: a notice `t`, and each decision `d` of it.
_DEED = """
    FROM board_decision t JOIN board_case told ON told.id = t.case_id
    JOIN board_decision d ON d.decided_at = t.decided_at AND d.action = t.action
        AND d.actor_id IS NOT DISTINCT FROM t.actor_id
    JOIN board_case c ON c.id = d.case_id AND c.author_id = told.author_id
    WHERE t.case_id = ANY(%(cases)s) AND strpos(t.note, %(note)s) > 0
"""
# An objection that waits, or was refused, is the only one; after one that was granted
# the author may object to the rest of the deed.
_FIND_IN_DEED = f"""
    SELECT DISTINCT ON (told.id) told.id AS told_by, c.id AS case_id, d.decided_at
    {_DEED} AND {_IS_OPEN}
      AND NOT EXISTS (
          SELECT FROM board_decision o JOIN board_case oc ON oc.id = o.case_id
          WHERE o.decided_at = t.decided_at AND o.action = t.action
            AND o.actor_id IS NOT DISTINCT FROM t.actor_id
            AND oc.author_id = told.author_id AND o.appeal IS NOT NULL
            AND 'DISMISS' <> (
                SELECT l.action FROM board_decision l
                WHERE l.case_id = o.case_id ORDER BY l.id DESC LIMIT 1
            )
      )
    ORDER BY told.id, c.id
"""  # noqa: S608 - of constants only
_FIND_OBJECTION = f"""
    SELECT told.id AS told_by, c.id AS case_id, d.decided_at
    {_DEED} AND d.appeal IS NOT NULL
    ORDER BY d.appealed_at DESC LIMIT 1
"""


class OpenAppeal(NamedTuple):
    """What an objection to the notice of a case would reopen."""

    told_by: int
    # Another one if something was decided since in the case that tells of a deed.
    case_id: int
    decided_at: datetime

    @property
    def until(self) -> datetime:
        return self.decided_at + APPEAL_TIME


def find_open_appeals(
    case_ids: Collection[int], now: datetime
) -> dict[int, OpenAppeal]:
    """Return the cases whose notices can be objected to, with what that reopens."""
    if not case_ids:
        return {}
    values: dict[str, Any] = {"since": now - APPEAL_TIME, "note": TELLS_OF_ALL}
    found = fetch_all(_FIND, values | {"cases": list(case_ids)}, OpenAppeal)
    rest = set(case_ids) - {each.told_by for each in found}
    if rest:
        values["cases"] = list(rest)
        found += fetch_all(_FIND_IN_DEED, values, OpenAppeal)
    return {each.told_by: each for each in found}


def require_open_appeal(case: ModerationCase, now: datetime) -> OpenAppeal:
    """Raise `AppealClosedError` if nothing can be said against it any more."""
    found = find_open_appeals([case.pk], now).get(case.pk)
    if found is None:
        raise AppealClosedError
    return found


def find_told_case(case: ModerationCase, now: datetime) -> ModerationCase:
    """Return the case that a notice is about: another one only of a deed.

    It is the one that can be objected to, else the one that was.
    """
    found = find_open_appeals([case.pk], now).get(case.pk)
    if found is None:
        values = {"cases": [case.pk], "note": TELLS_OF_ALL}
        found = next(iter(fetch_all(_FIND_OBJECTION, values, OpenAppeal)), None)
    if found is None or found.case_id == case.pk:
        return case
    return ModerationCase.objects.get(pk=found.case_id)


def appeal(author: Member, case_id: int, text: str, now: datetime) -> None:
    """Open the case again for another moderator, whose decision is final.

    Raises `NotFoundError` for a case of somebody else, and `AppealClosedError` for a
    second time, a final decision, and after `APPEAL_TIME`.
    """
    told_by = ModerationCase.objects.filter(pk=case_id, author=author).first()
    if told_by is None:
        raise NotFoundError
    # If somebody decides meanwhile, another case of the deed may be left.
    while not _appeal_in(require_open_appeal(told_by, now), author, text, now):
        pass


@retry_on_conflict
def _appeal_in(known: OpenAppeal, author: Member, text: str, now: datetime) -> bool:
    """Return False if it is not the case any more that can be objected to."""
    target = ModerationCase.objects.values_list("target_type", "target_id")
    with transaction.atomic():
        lock_members(author.pk)
        lock_target(*target.get(pk=known.case_id))
        case = lock_case(known.case_id)
        told_by = ModerationCase.objects.get(pk=known.told_by)
        if require_open_appeal(told_by, now) != known:
            return False
        if case.is_resolved:
            _merge_waiting_reports(case)
            case.status = ModerationCase.Status.OPEN
            case.opened_at = now
            case.save(update_fields=["kind", "status", "opened_at", "report_count"])
        decision = Decision.objects.filter(case=case).latest("id")
        if case.pk != known.told_by:
            # Staff learn here too that the objection is about a deed.
            decision.note = join_notes(decision.note, TELLS_OF_ALL)
        decision.appeal, decision.appealed_at = text, now
        decision.save(update_fields=["note", "appeal", "appealed_at"])
    return True


def _merge_waiting_reports(case: ModerationCase) -> None:
    """Take the reports of a later case, in which nobody has decided, into this one."""
    other = lock_unresolved_case(case.target_type, case.target_id)
    if other is None:
        return
    known = Report.objects.filter(case=case).values("member")
    Report.objects.filter(case=other).exclude(member__in=known).update(case=case)
    Report.objects.filter(case=other).delete()
    outside = OutsideReport.objects.filter(case=other)
    known_addresses = OutsideReport.objects.filter(case=case).values_list(
        Lower("email")
    )
    moved = outside.annotate(address=Lower("email")).exclude(
        address__in=known_addresses
    )
    if moved.update(case=case):
        case.kind = ModerationCase.Kind.NOTICE
    other.delete()
    case.report_count = Report.objects.filter(case=case).count()
