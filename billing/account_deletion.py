"""Account deletion (spec 2.9)."""

from accounts.models import Member
from billing.models import AccountToken, Purchase, RedeemedOrder, StoreNotification
from billing.purchases import hash_order


def delete_member_data(member: Member) -> None:
    """Delete the rows of a locked member.

    A keyed hash of each order stays: no other account may apply it again (spec 6.3).
    """
    purchases = Purchase.objects.filter(member=member)
    hashes = {
        hash_order(store, order_id)
        for store, order_id in purchases.values_list("store", "order_id")
    }
    RedeemedOrder.objects.bulk_create(
        [RedeemedOrder(order_hash=order_hash) for order_hash in sorted(hashes)],
        ignore_conflicts=True,
    )
    tokens = list(purchases.values_list("token_hash", flat=True))
    StoreNotification.objects.filter(token_hash__in=tokens).delete()
    purchases.delete()
    AccountToken.objects.filter(member=member).delete()
