"""`rotate_secrets_key`: seal long-lived secrets with the current key."""

import logging
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import TotpFactor
from billing.models import Purchase, StoreNotification
from core.sealing import ResealingResult, UnsealingError, seal_again
from ledger.models import UnsureText

logger = logging.getLogger(__name__)

# Sealed mails and codes are kept for a day at most.
STEPS: tuple[tuple[str, Any, str], ...] = (
    ("seeds of authenticator apps", TotpFactor, "sealed_seed"),
    ("tokens of purchases", Purchase, "sealed_token"),
    ("notifications of the store", StoreNotification, "sealed_body"),
    ("texts that are not sure", UnsureText, "sealed"),
)


class Command(BaseCommand):
    help = (
        "Encrypts with the first key of SECRETS_KEY what an older one has encrypted: "
        "seeds of authenticator apps, tokens of purchases, notifications of the store, "
        "texts that are not sure. Put the new key first and keep the old one after it, "
        "separated by a comma; restart the service; run this command; then remove the "
        "old key. It can be interrupted and repeated, and runs while the service is "
        "up. Exits with 1 if no key decrypts a value, which is then left unchanged."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        unreadable = 0
        for name, model, field in STEPS:
            result = reseal(model, field)
            unreadable += result.unreadable
            self.stdout.write(
                f"{name}: {result.resealed} encrypted again, "
                f"{result.unreadable} could not be decrypted."
            )
        if unreadable:
            raise CommandError(f"{unreadable} could not be decrypted.")


def reseal(model: Any, field: str) -> ResealingResult:
    """Seal the values of a column with the current key (decision 0146)."""
    resealed = unreadable = 0
    for row in model.objects.exclude(**{field: None}).order_by().iterator():
        old = bytes(getattr(row, field))
        try:
            new = seal_again(old, row.sealing_context)
        except UnsealingError:
            logger.error("%s %s cannot be decrypted", row._meta.verbose_name, row.pk)
            unreadable += 1
            continue
        if new is not None:
            # A concurrent change is sealed with the current key.
            unchanged = model.objects.filter(pk=row.pk, **{field: old})
            resealed += unchanged.update(**{field: new})
    return ResealingResult(resealed, unreadable)
