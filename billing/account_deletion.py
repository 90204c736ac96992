"""What self-deletion does to payment records."""

from accounts.models import Member
from billing.models import Purchase, RedeemedOrder, StoreNotification
from billing.purchases import hash_order


def delete_member_purchases(member: Member) -> None:
    """Delete the member's purchases and what the store announced about them.

    Inside the caller's transaction, which holds the member. A keyed hash of each
    order stays, so that no other account can apply it again (spec 6.3).
    """
    purchases = Purchase.objects.filter(member=member)
    hashes = {
        hash_order(store, order_id)
        for store, order_id in purchases.values_list("store", "order_id")
    }
    RedeemedOrder.objects.bulk_create(
        [RedeemedOrder(digest=digest) for digest in sorted(hashes)],
        ignore_conflicts=True,
    )
    tokens = list(purchases.values_list("token_digest", flat=True))
    StoreNotification.objects.filter(token_digest__in=tokens).delete()
    purchases.delete()
