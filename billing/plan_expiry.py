"""The hourly job: expire plans, and settle with the store what is still open."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Least
from django.utils import timezone

from accounts.models import Member
from accounts.security_events import SecurityEvent, log_security_event
from accounts.sessions import invalidate_member_session_cache
from billing.errors import PurchaseAlreadyUsedError
from billing.models import Purchase
from billing.orders import record_orders
from billing.purchases import (
    lock_member,
    read_purchase_token,
    recompute_plan,
    refresh_purchase,
    save_plan,
)
from billing.store_notifications import purge_notifications
from billing.stores import TEST_STORE, load_verifier
from billing.subscriptions import acknowledge_purchase
from core.db.transactions import retry_on_conflict
from core.errors import ProviderUnavailableError
from core.progress import SILENT_PROGRESS, Progress

logger = logging.getLogger(__name__)

BATCH_SIZE = 1_000
NOTIFICATION_RETENTION = timedelta(days=180)
# The store refunds a purchase that is not acknowledged by then.
STORE_REFUND_DEADLINE = timedelta(days=3)
# The store is taken to be unavailable then, and is asked again by the next run.
MAX_CONSECUTIVE_FAILURES = 3

# SKIP LOCKED: a row that is locked is about to change, and left to the next run.
# MATERIALIZED: the rows are chosen once. A subquery that a join runs again would skip
# the rows that it has locked before, and choose as many others.
_EXPIRE = """
    WITH lapsed AS MATERIALIZED (
        SELECT id FROM member
        WHERE plan = 'PREMIUM' AND plan_expires_at <= %(now)s
            AND NOT plan_auto_renew
        ORDER BY plan_expires_at LIMIT %(batch)s
        FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE member SET plan = 'FREE', plan_expires_at = NULL, plan_product = '',
        plan_auto_renew = false
    WHERE id IN (SELECT id FROM lapsed)
    RETURNING id
"""


@dataclass(frozen=True, slots=True)
class ExpiryResult:
    """Counts of one run; `failed` are purchases without a response of the store."""

    expired: int = 0
    refreshed: int = 0
    acknowledged: int = 0
    orders: int = 0
    purged: int = 0
    failed: int = 0


def run_expiry(now: datetime, progress: Progress = SILENT_PROGRESS) -> ExpiryResult:
    """Do everything that is due about memberships (spec 6.8).

    Idempotent, and safe to run concurrently.
    """
    # Refresh first, so that a subscription that has ended expires in the same run.
    refreshed, not_refreshed = refresh_lapsed_renewals(now, progress)
    acknowledged, not_acknowledged = retry_acknowledgements(now)
    tests_ended = end_test_purchases(now)
    failed = not_refreshed + not_acknowledged
    return ExpiryResult(
        expired=tests_ended + expire_lapsed_plans(now, progress),
        refreshed=refreshed,
        acknowledged=acknowledged,
        # Nothing that members see depends on it: it waits until the store responds.
        orders=0 if failed else record_orders(),
        purged=purge_notifications(now - NOTIFICATION_RETENTION),
        failed=failed,
    )


def expire_lapsed_plans(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    """Set lapsed plans without auto-renew to FREE; return their number (spec 6.8)."""
    expired = 0
    while True:
        count = _expire_batch(now)
        expired += count
        progress.update(f"{expired} plans expired so far")
        if count < BATCH_SIZE:
            return expired


@retry_on_conflict
def _expire_batch(now: datetime) -> int:
    """Set at most `BATCH_SIZE` lapsed plans to FREE; return their number."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_EXPIRE, {"now": now, "batch": BATCH_SIZE})
        member_ids = [int(row[0]) for row in cursor.fetchall()]
        invalidate_member_session_cache(*member_ids)
        for member_id in member_ids:
            log_security_event(
                SecurityEvent.PLAN_CHANGED, member_id, plan=Member.Plan.FREE.value
            )
    return len(member_ids)


def end_test_purchases(now: datetime) -> int:
    """End purchases of the test mode that have lapsed, without the mode all of them.

    No store renews them, although they are recorded to renew themselves (spec 6.4).
    Return the number of plans that became FREE.
    """
    purchases = Purchase.objects.filter(store=TEST_STORE)
    if settings.BILLING_TEST_MODE:
        ended = purchases.filter(auto_renew=True, expires_at__lte=now)
    else:
        ended = purchases.filter(Q(auto_renew=True) | Q(expires_at__gt=now))
    member_ids = ended.order_by("member_id").values_list("member_id", flat=True)
    return sum(
        _end_test_purchases(ended, member_id, now)
        for member_id in list(member_ids.distinct())
    )


@retry_on_conflict
@transaction.atomic
def _end_test_purchases(
    purchases: QuerySet[Purchase], member_id: int, now: datetime
) -> bool:
    """End purchases of a member; return True if the plan became FREE."""
    try:
        member = lock_member(member_id)
    except Member.DoesNotExist:
        return False
    own = purchases.filter(member=member)
    is_plan_affected = own.filter(is_active=True).exists()
    own.update(
        expires_at=Least("expires_at", now), auto_renew=False, checked_at=timezone.now()
    )
    if not is_plan_affected:
        return False
    plan_before = member.plan
    recompute_plan(member, now)
    save_plan(member)
    return member.plan != plan_before


def refresh_lapsed_renewals(
    now: datetime, progress: Progress = SILENT_PROGRESS
) -> tuple[int, int]:
    """Ask the store about plans that have lapsed but renew themselves.

    Return the number of refreshed purchases, and of those without a response, which
    keep their plan until the next run.
    """
    verifier = load_verifier()
    if not verifier.can_refresh:
        return 0, 0
    purchases = Purchase.objects.filter(
        is_active=True,
        auto_renew=True,
        expires_at__lte=now,
        store=verifier.store,
        member__plan=Member.Plan.PREMIUM,
        member__plan_auto_renew=True,
        member__plan_expires_at__lte=now,
    )
    refreshed = failed = failed_in_a_row = 0
    # In random order, so that purchases that always fail do not block the others.
    for purchase in list(purchases.order_by("?")[:BATCH_SIZE]):
        try:
            refresh_purchase(purchase, timezone.now())
        except (ProviderUnavailableError, PurchaseAlreadyUsedError) as error:
            logger.warning("purchase not refreshed: %s", type(error).__name__)
            failed, failed_in_a_row = failed + 1, failed_in_a_row + 1
        else:
            refreshed, failed_in_a_row = refreshed + 1, 0
        progress.update(f"{refreshed + failed} purchases refreshed so far")
        if failed_in_a_row == MAX_CONSECUTIVE_FAILURES:
            break
    return refreshed, failed


def retry_acknowledgements(now: datetime) -> tuple[int, int]:
    """Acknowledge purchases whose acknowledgement failed at first.

    Return the number of successes and of failures.
    """
    verifier = load_verifier()
    if not verifier.can_refresh:
        return 0, 0
    purchases = Purchase.objects.filter(
        is_acknowledged=False,
        store=verifier.store,
        purchased_at__gt=now - STORE_REFUND_DEADLINE,
    )
    acknowledged = failed = failed_in_a_row = 0
    for purchase in purchases.order_by("id")[:BATCH_SIZE]:
        if _acknowledge(purchase):
            acknowledged, failed_in_a_row = acknowledged + 1, 0
        else:
            failed, failed_in_a_row = failed + 1, failed_in_a_row + 1
        if failed_in_a_row == MAX_CONSECUTIVE_FAILURES:
            break
    return acknowledged, failed


def _acknowledge(purchase: Purchase) -> bool:
    try:
        token = read_purchase_token(purchase)
    except ProviderUnavailableError:
        return False
    return acknowledge_purchase(
        token,
        purchase.product_id,
        owner_id=purchase.member_id if purchase.is_out_of_app else None,
    )
