"""The hourly job: plans that have run out, and what the store says of the others."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Member
from accounts.sessions import invalidate_member_session_cache
from billing.errors import PurchaseAlreadyUsedError
from billing.models import Purchase
from billing.purchases import refresh_purchase
from billing.store_notifications import purge_notifications
from billing.stores import StoreVerifier, load_verifier
from billing.subscriptions import acknowledge_purchase
from core.errors import ProviderUnavailableError
from core.progress import SILENT_PROGRESS, Progress

logger = logging.getLogger(__name__)

BATCH_SIZE = 1_000
NOTIFICATION_RETENTION = timedelta(days=180)
"""How long notifications of the store are kept."""
STORE_REFUND_DEADLINE = timedelta(days=3)
"""An unacknowledged purchase is the store's to refund then."""
MAX_CONSECUTIVE_FAILURES = 3

_EXPIRE = """
    UPDATE member SET plan = 'FREE', plan_expires_at = NULL, plan_product = '',
        plan_auto_renew = false
    WHERE id IN (
        SELECT id FROM member
        WHERE plan = 'PREMIUM' AND plan_expires_at <= %(now)s
            AND NOT plan_auto_renew
        ORDER BY plan_expires_at LIMIT %(batch)s
        FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING id
"""


@dataclass(frozen=True, slots=True)
class ExpiryResult:
    """What a run of the job did."""

    expired: int = 0
    refreshed: int = 0
    acknowledged: int = 0
    purged: int = 0
    failed: int = 0


def run_expiry(now: datetime, progress: Progress = SILENT_PROGRESS) -> ExpiryResult:
    """Everything that is due about memberships.

    Idempotent and safe beside another run. With a store that can be asked, members
    whose plan has passed while it renews itself are asked about first, so that one
    that has ended is over in the same run.
    """
    asked, unanswered = refresh_lapsed_renewals(now, progress)
    acknowledged, unheard = retry_acknowledgements(now)
    return ExpiryResult(
        expired=expire_lapsed_plans(now, progress),
        refreshed=asked,
        acknowledged=acknowledged,
        purged=purge_notifications(now - NOTIFICATION_RETENTION),
        failed=unanswered + unheard,
    )


def expire_lapsed_plans(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    """Demote whose plan has passed without auto-renew; the number of them.

    To FREE, with the subscription info cleared (spec 6.8). Rows
    that somebody else holds are about to change and left to the next run.
    """
    expired = 0
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_EXPIRE, {"now": now, "batch": BATCH_SIZE})
            ids = [int(row[0]) for row in cursor.fetchall()]
            invalidate_member_session_cache(*ids)
        expired += len(ids)
        progress.update(f"{expired} plans expired so far")
        if len(ids) < BATCH_SIZE:
            return expired


def refresh_lapsed_renewals(
    now: datetime, progress: Progress = SILENT_PROGRESS
) -> tuple[int, int]:
    """Ask the store about plans that have passed and renew themselves.

    The numbers of those asked about and of those without an answer, which keep
    their plan until the next run.
    """
    verifier = load_verifier()
    if not verifier.can_refresh:
        return 0, 0
    asked = failed = in_a_row = 0
    for purchase in _list_lapsed_renewals(verifier, now):
        try:
            refresh_purchase(purchase, timezone.now())
        except (ProviderUnavailableError, PurchaseAlreadyUsedError) as refusal:
            logger.warning("purchase not followed: %s", type(refusal).__name__)
            failed, in_a_row = failed + 1, in_a_row + 1
        else:
            asked, in_a_row = asked + 1, 0
        progress.update(f"{asked + failed} purchases asked about so far")
        if in_a_row == MAX_CONSECUTIVE_FAILURES:
            break
    return asked, failed


def retry_acknowledgements(now: datetime) -> tuple[int, int]:
    """Acknowledge what could not be when it was verified: done, and failed."""
    verifier = load_verifier()
    if not verifier.can_refresh:
        return 0, 0
    waiting = Purchase.objects.filter(
        acknowledged=False,
        store=verifier.store,
        purchased_at__gt=now - STORE_REFUND_DEADLINE,
    )
    results = []
    for purchase in waiting.order_by("id")[:BATCH_SIZE]:
        results.append(
            acknowledge_purchase(purchase.purchase_token, purchase.product_id)
        )
        if len(results) >= MAX_CONSECUTIVE_FAILURES and not any(
            results[-MAX_CONSECUTIVE_FAILURES:]
        ):
            break
    return results.count(True), results.count(False)


def _list_lapsed_renewals(verifier: StoreVerifier, now: datetime) -> list[Purchase]:
    """In no order, so that one that always fails does not keep others waiting."""
    purchases = Purchase.objects.filter(
        counts=True,
        auto_renew=True,
        expires_at__lte=now,
        store=verifier.store,
        member__plan=Member.Plan.PREMIUM,
        member__plan_auto_renew=True,
        member__plan_expires_at__lte=now,
    )
    return list(purchases.order_by("?")[:BATCH_SIZE])
