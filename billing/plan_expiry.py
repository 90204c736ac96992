"""The hourly job of plans and purchases."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Least
from django.utils import timezone

from accounts.models import Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.sessions.store import invalidate_member_session_cache
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
from billing.store_runs import StoreRun, ask_store
from billing.stores import TEST_STORE, load_verifier
from billing.subscriptions import acknowledge_purchase
from core.db.transactions import retry_on_conflict
from core.errors import ProviderUnavailableError
from core.progress import SILENT_PROGRESS, Progress

logger = logging.getLogger(__name__)

BATCH_SIZE = 1_000
NOTIFICATION_RETENTION = timedelta(days=180)
STORE_REFUND_DEADLINE = timedelta(days=3)

# A locked row waits for the next run. A subquery that is not MATERIALIZED may run
# again and skip rows that it has locked itself.
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
    expired: int = 0
    refreshed: int = 0
    acknowledged: int = 0
    orders: int = 0
    purged: int = 0
    failed: int = 0


def run_expiry(now: datetime, progress: Progress = SILENT_PROGRESS) -> ExpiryResult:
    """Run the job (spec 6.8); concurrent runs are safe."""
    # An ended subscription expires in the same run.
    refreshed = refresh_lapsed_renewals(now, progress)
    acknowledged = retry_acknowledgements(now)
    tests_ended = end_test_purchases(now)
    failed = refreshed.failed + acknowledged.failed
    return ExpiryResult(
        expired=tests_ended + expire_lapsed_plans(now, progress),
        refreshed=refreshed.processed,
        acknowledged=acknowledged.processed,
        orders=0 if failed else record_orders(),
        purged=purge_notifications(now - NOTIFICATION_RETENTION),
        failed=failed,
    )


def expire_lapsed_plans(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    expired = 0
    while True:
        count = _expire_batch(now)
        expired += count
        progress.update(f"{expired} plans expired so far")
        if count < BATCH_SIZE:
            return expired


@retry_on_conflict
def _expire_batch(now: datetime) -> int:
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
    """End lapsed test purchases, or all without the test mode; no store renews them.

    Returns the number of plans that became FREE.
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
) -> StoreRun:
    verifier = load_verifier()
    if not verifier.can_refresh:
        return StoreRun()
    purchases = Purchase.objects.filter(
        is_active=True,
        auto_renew=True,
        expires_at__lte=now,
        store=verifier.store,
        member__plan=Member.Plan.PREMIUM,
        member__plan_auto_renew=True,
        member__plan_expires_at__lte=now,
    )
    # Purchases that always fail must not block others.
    return ask_store(purchases.order_by("?"), _refresh, progress)


def _refresh(purchase: Purchase) -> int:
    try:
        refresh_purchase(purchase, timezone.now())
    except (ProviderUnavailableError, PurchaseAlreadyUsedError) as error:
        logger.warning("purchase not refreshed: %s", type(error).__name__)
        raise ProviderUnavailableError from error
    return 1


def retry_acknowledgements(now: datetime) -> StoreRun:
    verifier = load_verifier()
    if not verifier.can_refresh:
        return StoreRun()
    purchases = Purchase.objects.filter(
        is_acknowledged=False,
        store=verifier.store,
        purchased_at__gt=now - STORE_REFUND_DEADLINE,
    )
    return ask_store(purchases.order_by("id"), _acknowledge)


def _acknowledge(purchase: Purchase) -> int:
    if not acknowledge_purchase(
        read_purchase_token(purchase),
        purchase.product_id,
        owner_id=purchase.member_id if purchase.is_out_of_app else None,
    ):
        raise ProviderUnavailableError
    return 1
