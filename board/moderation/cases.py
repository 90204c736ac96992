"""Cases: one is open for one target."""

from collections.abc import Collection
from datetime import datetime

from django.db import connection

from accounts.models import Member
from board.models import Decision, ModerationCase, Report
from board.moderation.notes import HIDDEN_AGAIN
from board.moderation.targets import Target
from core.errors import NotFoundError

UNRESOLVED = (ModerationCase.Status.OPEN, ModerationCase.Status.WAITING)
# Decision `d` of case `c` is the newest about its target. A deletion that was undone to
# a hiding counts no more, nor does the undo: the decision before them stands again.
STANDS = f"""
    d.id = (
        SELECT CASE WHEN newest.note <> '{HIDDEN_AGAIN}' THEN newest.id ELSE (
            SELECT l.id FROM board_case lc JOIN board_decision l ON l.case_id = lc.id
            WHERE lc.target_type = c.target_type AND lc.target_id = c.target_id
              AND l.note <> '{HIDDEN_AGAIN}'
              AND coalesce((
                  SELECT n.note
                  FROM board_case nc JOIN board_decision n ON n.case_id = nc.id
                  WHERE nc.target_type = c.target_type AND nc.target_id = c.target_id
                    AND n.id > l.id
                  ORDER BY n.id LIMIT 1
              ), '') <> '{HIDDEN_AGAIN}'
            ORDER BY l.id DESC LIMIT 1
        ) END
        FROM board_case ac JOIN board_decision newest ON newest.case_id = ac.id
        WHERE ac.target_type = c.target_type AND ac.target_id = c.target_id
        ORDER BY newest.id DESC LIMIT 1
    )
"""  # noqa: S608 - of a constant

_LOCK_OF_MEMBER = """
    SELECT id FROM board_case WHERE id IN (
        SELECT id FROM board_case WHERE author_id = %(member)s
        UNION SELECT case_id FROM board_report WHERE member_id = %(member)s
        UNION SELECT case_id FROM board_decision WHERE actor_id = %(member)s
    )
    ORDER BY id FOR UPDATE
"""
_ERASE_MEMBER = (
    "UPDATE board_decision SET actor_id = NULL WHERE actor_id = %(member)s",
    # Cases about the member as a person are deleted.
    """
    DELETE FROM board_report r USING board_case c
    WHERE r.case_id = c.id AND c.author_id = %(member)s AND c.target_type = 'MEMBER'
    """,
    """
    DELETE FROM board_decision d USING board_case c
    WHERE d.case_id = c.id AND c.author_id = %(member)s AND c.target_type = 'MEMBER'
    """,
    "DELETE FROM board_case WHERE author_id = %(member)s AND target_type = 'MEMBER'",
    """
    UPDATE board_decision d SET appeal = '' FROM board_case c
    WHERE d.case_id = c.id AND c.author_id = %(member)s AND d.appeal IS NOT NULL
    """,
    """
    UPDATE board_case SET author_id = NULL, title = '', content = '',
        target_gone = coalesce(target_gone, 'AUTHOR')
    WHERE author_id = %(member)s
    """,
    """
    WITH gone AS (
        DELETE FROM board_report WHERE member_id = %(member)s RETURNING case_id
    )
    UPDATE board_case c SET report_count = report_count - 1
    FROM gone WHERE c.id = gone.case_id
    """,
    """
    DELETE FROM board_case c
    WHERE c.id = ANY(%(cases)s) AND c.status <> 'RESOLVED' AND c.kind = 'REPORT'
      AND NOT EXISTS (SELECT FROM board_report r WHERE r.case_id = c.id)
      AND NOT EXISTS (SELECT FROM board_outside_report o WHERE o.case_id = c.id)
      AND NOT EXISTS (SELECT FROM board_decision d WHERE d.case_id = c.id)
    """,
)


def lock_unresolved_case(target_type: str, target_id: int) -> ModerationCase | None:
    """Lock the target first: then no other writer opens a case."""
    cases = ModerationCase.objects.select_for_update()
    return cases.filter(
        target_type=target_type, target_id=target_id, status__in=UNRESOLVED
    ).first()


def lock_case(case_id: int) -> ModerationCase:
    """Raise `NotFoundError` if the last report was taken back meanwhile."""
    case = ModerationCase.objects.select_for_update().filter(pk=case_id).first()
    if case is None:
        raise NotFoundError
    return case


def open_case(
    target: Target,
    kind: str,
    now: datetime,
    *,
    reason: str = "",
    status: str = ModerationCase.Status.OPEN,
) -> ModerationCase:
    """Open a case with a copy of the target's texts, and lock it.

    Return the open one if there is one: members have no lock.
    """
    ModerationCase.objects.bulk_create(
        [
            ModerationCase(
                kind=kind,
                status=status,
                target_type=target.type,
                target_id=target.id,
                post_id=target.post_id,
                author_id=target.author_id,
                reason=reason,
                title=target.title,
                content=target.content,
                opened_at=now,
            )
        ],
        ignore_conflicts=True,
    )
    case = lock_unresolved_case(target.type, target.id)
    if case is None:
        raise RuntimeError(f"no case for {target.type} {target.id}")
    return case


def list_appealed(target_type: str, target_ids: Collection[int]) -> set[int]:
    """Return the targets of which an objection waits for a decision."""
    if not target_ids:
        return set()
    cases = ModerationCase.objects.filter(
        target_type=target_type, target_id__in=target_ids, status__in=UNRESOLVED
    )
    newest = Decision.objects.filter(case__in=cases).order_by("case_id", "-id")
    last = newest.distinct("case_id").values_list("case__target_id", "appeal")
    return {target_id for target_id, appeal in last if appeal is not None}


def find_last_resolved(target_type: str, target_id: int) -> ModerationCase | None:
    cases = ModerationCase.objects.filter(target_type=target_type, target_id=target_id)
    return cases.exclude(status__in=UNRESOLVED).order_by("-id").first()


def find_newest_decision(case: ModerationCase) -> Decision | None:
    """Return the newest decision, also one that reports alone have made."""
    return Decision.objects.filter(case=case).order_by("-id").first()


def find_last_decision(case: ModerationCase) -> Decision | None:
    """Return the newest decision of staff."""
    decisions = Decision.objects.filter(case=case, is_automatic=False)
    return decisions.order_by("-id").first()


def delete_if_empty(case: ModerationCase) -> None:
    """Delete a case that has no report left and in which nothing was done."""
    is_empty = case.kind == ModerationCase.Kind.REPORT and case.report_count == 0
    if is_empty and not Decision.objects.filter(case=case).exists():
        Report.objects.filter(case=case).delete()
        case.delete()


def erase_member_from_cases(member: Member) -> None:
    """Take a member who leaves out of all cases, with the copies of their texts."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_OF_MEMBER, {"member": member.pk})
        cases = [case_id for (case_id,) in cursor.fetchall()]
        if not cases:
            return
        for statement in _ERASE_MEMBER:
            cursor.execute(statement, {"member": member.pk, "cases": cases})
