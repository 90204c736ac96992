"""The lock of a ledger."""

from accounts.models import Member
from core.db.locks import AdvisoryLock, advisory_xact_lock


def lock_ledger(member: Member) -> None:
    """Lock the member's ledger against all other writers until the transaction ends.

    Whoever writes rows of a ledger calls this before any other statement of the
    transaction. The writers of one member then follow each other, so that none of them
    waits for a row that another has locked, and what one has read stays as it is:
    categories and tags by their names, the kind of a wallet, the number of rows. The
    triggers of entries lock the ledger's row in any case.
    """
    advisory_xact_lock(AdvisoryLock.LEDGER, member.pk)
