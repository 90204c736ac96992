"""Documents: published, in force, answered in a language."""

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from accounts.models import LegalDocument, Member
from accounts.security.audit_log import ADDITION, log_admin_action
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.db.transactions import retry_on_conflict
from core.errors import DuplicateError, raise_on_constraint_violation

_SUMMARY_FIELDS = (
    "id",
    "kind",
    "version",
    "locale",
    "title",
    "effective_at",
    "required",
)


class DocumentSummary(NamedTuple):
    id: int
    kind: str
    version: str
    locale: str
    title: str
    effective_at: datetime
    required: bool


class KnownDocuments:
    """The documents as this process has read them a moment ago."""

    def __init__(self) -> None:
        self.read_at: float | None = None
        self.documents: tuple[DocumentSummary, ...] = ()

    def list_all(self) -> tuple[DocumentSummary, ...]:
        now, read_at = time.monotonic(), self.read_at
        if read_at is None or now - read_at > settings.LEGAL_CACHE_SECONDS:
            self.documents, self.read_at = read_documents(), now
        return self.documents


KNOWN = KnownDocuments()


def read_documents() -> tuple[DocumentSummary, ...]:
    rows = LegalDocument.objects.order_by("effective_at", "id")
    return tuple(map(DocumentSummary._make, rows.values_list(*_SUMMARY_FIELDS)))


def list_in_force(
    documents: Iterable[DocumentSummary], now: datetime
) -> list[DocumentSummary]:
    """Return the newest of each kind and language, from the oldest to the newest."""
    newest = {
        (each.kind, each.locale): each for each in documents if each.effective_at <= now
    }
    return sorted(newest.values(), key=lambda each: (each.kind, each.locale))


def choose_by_language(
    in_force: Iterable[DocumentSummary], locale: str
) -> list[DocumentSummary]:
    """Return one of each kind, in another language where there is none in this one."""
    chosen: dict[str, DocumentSummary] = {}
    for each in in_force:
        if each.kind not in chosen or each.locale == locale:
            chosen[each.kind] = each
    return list(chosen.values())


def list_documents(locale: str, now: datetime) -> list[LegalDocument]:
    """Return the documents in force, with their texts."""
    chosen = choose_by_language(list_in_force(read_documents(), now), locale)
    found = LegalDocument.objects.in_bulk([each.id for each in chosen])
    return [found[each.id] for each in chosen]


def publish_document(actor: Member, values: dict[str, Any]) -> LegalDocument:
    """Publish a version in one language; raise as `publish_documents`."""
    (document,) = publish_documents(actor, [values])
    return document


@retry_on_conflict
def publish_documents(
    actor: Member, rows: Iterable[dict[str, Any]]
) -> list[LegalDocument]:
    """Publish versions, all or none; raise `DuplicateError` for a known one.

    Who signs up at the same time does so before or after.
    """
    error = DuplicateError(gettext("This version has been published."))
    published = []
    with transaction.atomic():
        advisory_xact_lock(AdvisoryLock.LEGAL_DOCUMENTS)
        for values in rows:
            with raise_on_constraint_violation("legal_document_version", error):
                document = LegalDocument.objects.create(**values)
            document.refresh_from_db()
            log_admin_action(actor, document, ADDITION)
            published.append(document)
    return published
