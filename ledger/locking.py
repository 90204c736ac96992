"""Per-member locks of the ledger.

Take them in this order: the ledger (shared or exclusive), notifications, rows, the
ledger's row. All are released at the end of the transaction.
"""

from accounts.models import Member
from core.db.locks import (
    AdvisoryLock,
    advisory_xact_lock,
    advisory_xact_lock_shared,
    make_lock_key,
)
from core.db.rows import prepared_cursor
from ledger.models import Ledger


def lock_ledger_shared(member: Member) -> None:
    """Lock the member's ledger against changes of wallets and categories.

    Every writer of entries, and of anything else that refers to a wallet or a category,
    calls this first. It does not block other such writers, only
    `lock_ledger_exclusive`, and rules out deadlocks between the two.
    """
    advisory_xact_lock_shared(AdvisoryLock.LEDGER, member.pk)


def lock_ledger_exclusive(member: Member) -> None:
    """Lock the member's ledger against all other writers.

    For changes that affect rows which others may be about to refer to: deleting a
    wallet, tag or category, or changing its kind or type.
    """
    advisory_xact_lock(AdvisoryLock.LEDGER, member.pk)


def lock_notifications(member: Member) -> None:
    """Serialize a member's notifications, so that deduplication sees earlier ones.

    Locks the ledger first, as `lock_ledger_shared`, in the same statement.
    """
    key = make_lock_key(member.pk)
    with prepared_cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock_shared(%s::int, %s::int),"
            " pg_advisory_xact_lock(%s::int, %s::int)",
            [
                *(AdvisoryLock.LEDGER.value, key),
                *(AdvisoryLock.NOTIFICATIONS.value, key),
            ],
        )


def lock_ledger_row(member: Member) -> None:
    """Lock the row of the ledger, to serialize additions to the member's lists.

    For rules that span rows: the next sort order, categories and tags that are created
    by name. Writers of entries lock it too, by their triggers; references to it are not
    blocked (FOR NO KEY UPDATE). Raises `Member.DoesNotExist` if the member has left.
    """
    rows = Ledger.objects.owned_by(member).select_for_update(no_key=True)
    if not rows.values_list("member_id"):
        raise Member.DoesNotExist
