"""Who of a member's writers waits for whom.

Four locks, taken in this order: the ledger (shared or alone), notifications, rows,
lists. They end with the transaction.
"""

from django.db import connection

from accounts.models import Member

LEDGER_LOCK_NAMESPACE = 0x4C45
NOTIFICATION_LOCK_NAMESPACE = 0x4E4F
"""The first keys of this module's advisory locks; the second is the member's id."""


def lock_ledger_shared(member: Member) -> None:
    """Write beside others: wallets and categories stay what they are meanwhile.

    Every writer of entries and of what refers to wallets and categories calls this
    first, so that whoever changes or ends those (`lock_ledger_exclusive`) waits, and no two
    wait crosswise.
    """
    _acquire_advisory_lock(
        "pg_advisory_xact_lock_shared", LEDGER_LOCK_NAMESPACE, member
    )


def lock_ledger_exclusive(member: Member) -> None:
    """Be the only one to write the member's ledger.

    For what decides over rows that others may be about to refer to: the end of a
    wallet or category, a new kind or type.
    """
    _acquire_advisory_lock("pg_advisory_xact_lock", LEDGER_LOCK_NAMESPACE, member)


def lock_notifications(member: Member) -> None:
    """Take in the member's notifications one after the other, each knowing the last."""
    _acquire_advisory_lock("pg_advisory_xact_lock", NOTIFICATION_LOCK_NAMESPACE, member)


def lock_member_row(member: Member) -> None:
    """Wait for others that add to the member's lists.

    For rules over several rows: the next place in an order, names that are created
    on the way. References to the member are not blocked.
    """
    Member.objects.select_for_update(no_key=True).only("id").get(pk=member.pk)


def _acquire_advisory_lock(function: str, locks: int, member: Member) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [locks, member.pk % 2**31])
