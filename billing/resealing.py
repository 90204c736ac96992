"""Sealing of stored tokens with the current key, after a rotation (decision 0146)."""

import logging
from typing import TypeVar

from django.db.models import QuerySet

from billing.models import Purchase, StoreNotification
from core.sealing import ResealingResult, UnsealingError, seal_again

logger = logging.getLogger(__name__)

Row = TypeVar("Row", Purchase, StoreNotification)


def reseal_purchases() -> ResealingResult:
    """Seal the tokens of purchases that an older key has sealed."""
    return _reseal(Purchase.objects.all(), "sealed_token")


def reseal_notifications() -> ResealingResult:
    """Seal the notifications of the store that an older key has sealed."""
    return _reseal(StoreNotification.objects.all(), "sealed_body")


def _reseal(rows: QuerySet[Row], field: str) -> ResealingResult:
    """Seal a field of the rows again, unless another writer has changed it."""
    resealed = unreadable = 0
    for row in rows.order_by().iterator():
        old = bytes(getattr(row, field))
        try:
            new = seal_again(old, row.sealing_context)
        except UnsealingError:
            logger.error("%s %s cannot be decrypted", row._meta.verbose_name, row.pk)
            unreadable += 1
            continue
        if new is not None:
            same = rows.filter(pk=row.pk, **{field: old})
            resealed += same.update(**{field: new})
    return ResealingResult(resealed, unreadable)
