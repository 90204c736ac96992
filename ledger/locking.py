"""One writer at a time where a rule looks at a member's whole list."""

from accounts.models import Member


def lock_lists(member: Member) -> None:
    """Wait for other writers of this member's lists, until the transaction ends.

    For rules over several rows: the next place in an order, names that are created
    on the way, the import of defaults. References to the member are not blocked.
    """
    Member.objects.select_for_update(no_key=True).only("id").get(pk=member.pk)
