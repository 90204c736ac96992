"""One deed of staff on many posts and comments (spec 7.9).

All decisions of a deed have its actor and its moment, by which it is found again
(`board.moderation.deeds`). Each batch is a transaction; each row is decided once.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import Q

from accounts.models import Member
from accounts.security.audit_log import CHANGE, DELETION, log_admin_actions
from board.errors import NotYourCaseError
from board.locking import lock_members
from board.models import (
    Comment,
    Decision,
    HiddenReason,
    ModerationCase,
    Post,
    TargetType,
)
from board.moderation.cases import UNRESOLVED, list_appealed
from board.moderation.decisions import (
    LOGGED_MODELS,
    LOGGED_TEXTS,
    Judgement,
    judge_content,
    require_judge,
)
from board.moderation.notes import HIDDEN_BEFORE, TELLS_OF_ALL, join_notes
from board.moderation.notices import tell_authors, tell_shown_again
from board.moderation.targets import Target
from core.api.permissions import ModeratorRequiredError
from core.db.transactions import is_conflict, is_lock_timeout, retry_on_conflict
from core.errors import DomainError, NotFoundError

Action = Decision.Action
Row = Post | Comment
Targets = Mapping[TargetType, Sequence[int]]
Select = Callable[[TargetType, Collection[int]], set[int]]
BATCH_SIZE = 200
# Proxies wait for 30 to 60 seconds.
MAX_SECONDS = 20.0
# Between batches, for the other requests of the process.
PAUSE_SECONDS = 0.1
# An author of more rows is told once for all of them.
MAX_SINGLE_NOTICES = 5
MODELS: dict[str, type[Row]] = {TargetType.POST: Post, TargetType.COMMENT: Comment}
TABLES = {TargetType.POST: "board_post", TargetType.COMMENT: "board_comment"}
_COUNT_BY_AUTHOR = """
    SELECT member_id, count(*) FROM {table}
    WHERE id = ANY(%(ids)s) AND member_id IS NOT NULL AND {due} GROUP BY member_id
"""
_IS_DUE: dict[str, str] = {
    Action.DISMISS: "is_hidden",
    Action.HIDE: "NOT is_hidden",
    Action.DELETE: "remove_after IS NULL",
}
# Without their texts, which may be long.
_OPEN_CASES = """
    INSERT INTO board_case
        (kind, status, target_type, target_id, post_id, author_id, reason, title,
         content, report_count, target_gone, opened_at, owes_points)
    SELECT 'STAFF', 'RESOLVED', %(target_type)s, id, {post_id}, member_id, %(reason)s,
        {title}, content, 0, %(gone)s, %(now)s, false
    FROM {table} WHERE id = ANY(%(ids)s) ORDER BY id
    RETURNING id, target_id, author_id
"""
_CASE_COLUMNS = {
    TargetType.POST: {"table": "board_post", "post_id": "id", "title": "title"},
    TargetType.COMMENT: {
        "table": "board_comment",
        "post_id": "post_id",
        "title": "''",
    },
}


@dataclass(slots=True)
class Outcome:
    """Numbers of rows."""

    changed: int = 0
    # As wanted before, or decided by somebody else since.
    unchanged: int = 0
    # With an objection, which is decided in the queue.
    appealed: int = 0
    # Own content, and that of staff.
    refused: int = 0
    gone: int = 0
    # Not looked at: the time was over, or other writers held the rows.
    left: int = 0
    # Undeleted, and hidden as before.
    hidden_again: int = 0
    # Ended the deed.
    error: DomainError | None = None

    @property
    def count(self) -> int:
        done = self.changed + self.hidden_again
        return (
            done + self.unchanged + self.appealed + self.refused + self.gone + self.left
        )

    def add(self, other: "Outcome") -> None:
        self.changed += other.changed
        self.unchanged += other.unchanged
        self.appealed += other.appealed
        self.refused += other.refused
        self.gone += other.gone
        self.left += other.left
        self.hidden_again += other.hidden_again


@dataclass(slots=True)
class Deed:
    """What a member of staff does at one moment for one reason."""

    actor: Member
    judgement: Judgement
    now: datetime
    # Authors who are told once, and those of them who have been.
    told_once: frozenset[int] = frozenset()
    told: set[int] = field(default_factory=set)
    # Returns the locked rows that the deed may change; without it all of them.
    select: Select | None = None

    def has_effect(self, *, is_hidden: bool, is_deleted: bool) -> bool:
        match self.judgement.action:
            case Action.DISMISS:
                return is_hidden
            case Action.HIDE if self.select is None:
                return not is_hidden
            case Action.HIDE:
                # The undo of a deletion.
                return is_deleted
            case _:
                return not is_deleted

    def tells(self, author_id: int) -> bool:
        return self.judgement.tells_author and author_id not in self.told


@dataclass(slots=True)
class _Batch:
    outcome: Outcome
    # Rows with an unresolved or blind case are decided one by one; the others are
    # decided together.
    single: list[int] = field(default_factory=list)
    told: set[int] = field(default_factory=set)


def start_deed(
    actor: Member,
    judgement: Judgement,
    now: datetime,
    targets: Targets,
    *,
    select: Select | None = None,
) -> Deed:
    """Prepare a deed: count what it is about to do to each author."""
    counts: Counter[int] = Counter()
    due = _IS_DUE[judgement.action] if select is None else "is_hidden"
    with connection.cursor() as cursor:
        for target_type, ids in targets.items():
            sql = _COUNT_BY_AUTHOR.format(table=TABLES[target_type], due=due)
            cursor.execute(sql, {"ids": list(ids)})
            counts.update(dict(cursor.fetchall()))
    many = {author for author, n in counts.items() if n > MAX_SINGLE_NOTICES}
    return Deed(actor, judgement, now, frozenset(many), select=select)


def judge_all(
    deed: Deed, targets: Targets, *, max_seconds: float = MAX_SECONDS
) -> Outcome:
    """Decide about all rows, in batches, until the time is over.

    Rows that are left can be sent again: those that are done are passed over. An actor
    who loses the role meanwhile ends it, with `error`.
    """
    end = time.monotonic() + max_seconds
    outcome = Outcome()
    for place, (target_type, ids) in enumerate(_list_batches(targets)):
        if place and outcome.left == 0:
            time.sleep(PAUSE_SECONDS)
        if outcome.error is not None or time.monotonic() >= end:
            outcome.left += len(ids)
            continue
        before = outcome.count
        try:
            _judge_batch(deed, target_type, ids, end, outcome)
        except ModeratorRequiredError as error:
            outcome.error = error
            outcome.left += len(ids) - (outcome.count - before)
        except OperationalError as error:
            if not (is_conflict(error) or is_lock_timeout(error)):
                raise
            outcome.left += len(ids) - (outcome.count - before)
    return outcome


def _list_batches(targets: Targets) -> Iterator[tuple[TargetType, list[int]]]:
    for target_type, ids in targets.items():
        ordered = sorted(ids)
        for first in range(0, len(ordered), BATCH_SIZE):
            yield target_type, ordered[first : first + BATCH_SIZE]


def _judge_batch(
    deed: Deed, target_type: TargetType, ids: list[int], end: float, outcome: Outcome
) -> None:
    """Decide about the rows, and add to the outcome as far as it goes."""
    batch = _judge_plain(deed, target_type, ids)
    outcome.add(batch.outcome)
    deed.told |= batch.told
    for place, target_id in enumerate(batch.single):
        if time.monotonic() >= end:
            outcome.left += len(batch.single) - place
            break
        _judge_single(deed, target_type, target_id, outcome)


@retry_on_conflict
def _judge_plain(deed: Deed, target_type: TargetType, ids: list[int]) -> _Batch:
    """Decide about the rows that nobody waits for, in one transaction."""
    rows = MODELS[target_type]._default_manager
    found = rows.filter(pk__in=ids, member__isnull=False)
    authors: dict[int, int | None] = dict(found.values_list("pk", "member_id"))
    with transaction.atomic():
        people = lock_members(deed.actor.pk, *set(authors.values()))
        require_judge(deed.actor, people, None)
        locked = _lock_rows(target_type, list(authors))
        single = _list_single(deed, target_type, list(locked))
        appealed = list_appealed(target_type, single)
        chosen = deed.select(target_type, list(locked)) if deed.select else set(locked)
        batch = _Batch(Outcome(gone=len(ids) - len(locked)))
        plain: list[Row] = []
        for row_id, row in locked.items():
            is_deleted = row.remove_after is not None
            if not _may_judge(deed.actor, people, row.member_id):
                batch.outcome.refused += 1
            elif row_id not in chosen or not deed.has_effect(
                is_hidden=row.is_hidden, is_deleted=is_deleted
            ):
                batch.outcome.unchanged += 1
            elif row_id in appealed:
                batch.outcome.appealed += 1
            elif row_id in single:
                batch.single.append(row_id)
            else:
                plain.append(row)
        batch.outcome.changed = len(plain)
        if plain:
            batch.told = _decide(deed, people[deed.actor.pk], target_type, plain)
    return batch


def _may_judge(actor: Member, people: dict[int, Member], author: int | None) -> bool:
    try:
        require_judge(actor, people, author)
    except NotYourCaseError:
        return False
    return True


def _lock_rows(target_type: TargetType, ids: list[int]) -> dict[int, Row]:
    columns = ("id", "member_id", "is_hidden", "hidden_reason", "remove_after")
    posts = Post.objects.select_for_update(no_key=True).order_by("id").only(*columns)
    if target_type == TargetType.POST:
        return {post.pk: post for post in posts.filter(pk__in=ids)}
    of = Comment.objects.filter(pk__in=ids).values_list("post_id", flat=True)
    list(posts.filter(pk__in=set(of)))
    comments = Comment.objects.select_for_update(no_key=True).order_by("id")
    # Without an author only its place is left.
    rows = comments.filter(pk__in=ids, member__isnull=False).only(*columns)
    return {comment.pk: comment for comment in rows}


def _list_single(deed: Deed, target_type: TargetType, ids: list[int]) -> set[int]:
    """Lock the cases of locked rows; return the rows whose cases are not all done."""
    action = deed.judgement.action
    if action == Action.DELETE and settings.BOARD_KEPT_DAYS == 0:
        return set(ids)
    waiting = Q(status__in=UNRESOLVED) | Q(blind_until__isnull=False)
    if action == Action.DISMISS:
        waiting |= Q(owes_points=True)
    cases = ModerationCase.objects.select_for_update().order_by("id")
    found = cases.filter(waiting, target_type=target_type, target_id__in=ids)
    return set(found.values_list("target_id", flat=True))


def _decide(
    deed: Deed, actor: Member, target_type: TargetType, rows: list[Row]
) -> set[int]:
    """Decide about locked rows; return the authors who are told once."""
    action, ids = deed.judgement.action, [row.pk for row in rows]
    cases = _open_cases(deed, target_type, ids)
    if action != Action.DELETE:
        about = ModerationCase.objects.filter(target_type=target_type)
        gone = about.filter(target_id__in=ids, target_gone__isnull=False)
        gone.update(target_gone=None)
    hidden = {row.pk for row in rows if row.is_hidden}
    notices = _choose_notices(deed, cases)
    Decision.objects.bulk_create(
        Decision(
            case_id=case_id,
            action=action,
            reason=deed.judgement.reason,
            note=_note_of(
                deed,
                was_hidden=row_id in hidden,
                tells_of_all=notices.get(case_id) in deed.told_once,
            ),
            actor=actor,
            decided_at=deed.now,
        )
        for case_id, row_id, _ in cases
    )
    MODELS[target_type]._default_manager.filter(pk__in=ids).update(**_values_of(deed))
    log_admin_actions(
        deed.actor,
        DELETION if action == Action.DELETE else CHANGE,
        [
            (
                LOGGED_MODELS[target_type](pk=row_id),
                f"{LOGGED_TEXTS[action]} Case {case_id}.",
            )
            for case_id, row_id, _ in cases
        ],
    )
    tell_authors((author, case_id) for case_id, author in notices.items())
    if action == Action.DISMISS:
        tell_shown_again(target_type, ids)
    return set(notices.values()) & deed.told_once


def _choose_notices(deed: Deed, cases: list[tuple[int, int, int]]) -> dict[int, int]:
    """Return the cases of which their authors are told, with these."""
    notices: dict[int, int] = {}
    told: set[int] = set()
    for case_id, _, author in cases:
        if author in told or not deed.tells(author):
            continue
        notices[case_id] = author
        if author in deed.told_once:
            told.add(author)
    return notices


def _note_of(deed: Deed, *, was_hidden: bool, tells_of_all: bool) -> str:
    was_deleted_hidden = was_hidden and deed.judgement.action == Action.DELETE
    return join_notes(
        deed.judgement.note,
        HIDDEN_BEFORE if was_deleted_hidden else "",
        TELLS_OF_ALL if tells_of_all else "",
    )


def _open_cases(
    deed: Deed, target_type: TargetType, ids: list[int]
) -> list[tuple[int, int, int]]:
    """Return the case, the row and the author of each."""
    is_deletion = deed.judgement.action == Action.DELETE
    values = {
        "target_type": target_type,
        "reason": deed.judgement.reason,
        "gone": ModerationCase.Gone.STAFF if is_deletion else None,
        "now": deed.now,
        "ids": ids,
    }
    with connection.cursor() as cursor:
        cursor.execute(_OPEN_CASES.format(**_CASE_COLUMNS[target_type]), values)
        return list(cursor.fetchall())


def _values_of(deed: Deed) -> dict[str, object]:
    if deed.judgement.action == Action.DISMISS:
        return {"is_hidden": False, "hidden_reason": None, "remove_after": None}
    is_deletion = deed.judgement.action == Action.DELETE
    days = timedelta(days=settings.BOARD_KEPT_DAYS)
    return {
        "is_hidden": True,
        "hidden_reason": HiddenReason.STAFF,
        "remove_after": deed.now + days if is_deletion else None,
    }


def _judge_single(
    deed: Deed, target_type: TargetType, target_id: int, outcome: Outcome
) -> None:
    told: set[int] = set()
    is_appealed = False

    def revise(target: Target, judgement: Judgement) -> Judgement | None:
        nonlocal is_appealed
        is_hidden = target.hidden_reason is not None
        is_chosen = deed.select is None or deed.select(target_type, [target.id])
        if not is_chosen or not deed.has_effect(
            is_hidden=is_hidden, is_deleted=target.is_removed
        ):
            return None
        # The author waits for the lock of the row to object.
        if list_appealed(target_type, [target.id]):
            is_appealed = True
            return None
        told.add(target.author_id)
        is_told = deed.tells(target.author_id)
        note = _note_of(
            deed,
            was_hidden=is_hidden,
            tells_of_all=is_told and target.author_id in deed.told_once,
        )
        return replace(judgement, note=note, tells_author=is_told)

    try:
        is_changed = judge_content(
            deed.actor, target_type, target_id, deed.judgement, deed.now, revise=revise
        )
    except NotFoundError:
        outcome.gone += 1
    except NotYourCaseError:
        # The author has joined the staff meanwhile.
        outcome.refused += 1
    else:
        outcome.changed += is_changed
        outcome.appealed += is_appealed
        outcome.unchanged += not (is_changed or is_appealed)
        if is_changed:
            deed.told |= told & deed.told_once
