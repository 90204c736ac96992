"""Who of a member's writers waits for whom.

Four locks, taken in this order: the ledger (shared or alone), notifications, rows,
lists. They end with the transaction.
"""

from accounts.models import Member
from core.db.locks import (
    AdvisoryLock,
    advisory_xact_lock,
    advisory_xact_lock_shared,
)


def lock_ledger_shared(member: Member) -> None:
    """Write beside others: wallets and categories stay what they are meanwhile.

    Every writer of entries and of what refers to wallets and categories calls this
    first, so that whoever changes or ends those (`lock_ledger_exclusive`) waits, and no two
    wait crosswise.
    """
    advisory_xact_lock_shared(AdvisoryLock.LEDGER, member.pk)


def lock_ledger_exclusive(member: Member) -> None:
    """Be the only one to write the member's ledger.

    For what decides over rows that others may be about to refer to: the end of a
    wallet or category, a new kind or type.
    """
    advisory_xact_lock(AdvisoryLock.LEDGER, member.pk)


def lock_notifications(member: Member) -> None:
    """Take in the member's notifications one after the other, each knowing the last."""
    advisory_xact_lock(AdvisoryLock.NOTIFICATIONS, member.pk)


def lock_member_row(member: Member) -> None:
    """Wait for others that add to the member's lists.

    For rules over several rows: the next place in an order, names that are created
    on the way. References to the member are not blocked.
    """
    Member.objects.select_for_update(no_key=True).only("id").get(pk=member.pk)
