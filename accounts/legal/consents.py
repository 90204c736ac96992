"""Consents: asked before a member is written, and of members from before."""

import logging
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import DatabaseError
from django.utils import timezone
from django.utils.translation import gettext

from accounts.errors import ConsentRequiredError
from accounts.legal.documents import (
    KNOWN,
    DocumentSummary,
    choose_by_language,
    list_in_force,
    read_documents,
)
from accounts.models import Consent, LegalDocument, Member
from accounts.security.rate_limits import RateLimitPolicy
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.db.rows import fetch_all
from core.errors import DomainError, FieldError, MissingItemError

logger = logging.getLogger(__name__)

FIELD = "consents"
# Rows are only added.
ANSWERS_LIMIT = RateLimitPolicy("consents", 50, timedelta(days=1))
# What the member said last to each version, in whatever language.
_ANSWERS = """
    SELECT DISTINCT ON (d.kind, d.version) d.kind, d.version, c.accepted
    FROM consent c JOIN legal_document d ON d.id = c.document_id
    WHERE c.member_id = %(member)s
    ORDER BY d.kind, d.version, c.id DESC
"""


class Answer(NamedTuple):
    kind: str
    version: str
    accepted: bool


def take_consents(ids: Collection[int], locale: str) -> list[int]:
    """Return the documents of a new member's consents, in their transaction.

    A document that is published meanwhile waits, or counts. Raises `DomainError` on
    `consents` with the documents in force: without one for each required document, and
    for one that is not in force.
    """
    advisory_xact_lock(AdvisoryLock.LEGAL_DOCUMENTS, is_shared=True)
    in_force = list_in_force(read_documents(), timezone.now())
    known = {each.id: each for each in in_force}
    accepted = {_version_of(known[number]) for number in ids if number in known}
    chosen = choose_by_language(in_force, locale)
    missing = [
        each for each in chosen if each.required and _version_of(each) not in accepted
    ]
    if unknown := [number for number in ids if number not in known]:
        text = gettext("This document is not in force: {id}.").format(id=unknown[0])
        raise _refuse(text, "invalid", chosen)
    if missing:
        text = gettext("Your consent is needed: {title}.")
        raise _refuse(text.format(title=missing[0].title), "required", chosen)
    return list(ids)


def _refuse(text: str, code: str, documents: Iterable[DocumentSummary]) -> DomainError:
    return DomainError(
        errors=(FieldError(FIELD, text, code),),
        members={"documents": [summary_payload(each) for each in documents]},
    )


def _version_of(document: DocumentSummary) -> tuple[str, str]:
    return document.kind, document.version


def add_consents(
    member: Member, document_ids: Collection[int], ip_address: str, *, accepted: bool
) -> None:
    Consent.objects.bulk_create(
        Consent(
            member=member,
            document_id=number,
            accepted=accepted,
            ip_address=ip_address or None,
        )
        for number in document_ids
    )


def answer_document(
    member: Member, document_id: int, ip_address: str, *, accepted: bool
) -> Consent:
    """Add what the member says to a document in force.

    Raises `MissingItemError` for another one, and `RateLimitedError`.
    """
    in_force = list_in_force(read_documents(), timezone.now())
    if document_id not in {each.id for each in in_force}:
        raise MissingItemError("documentId")
    ANSWERS_LIMIT.consume(str(member.pk))
    return Consent.objects.create(
        member=member,
        document_id=document_id,
        accepted=accepted,
        ip_address=ip_address or None,
        at=timezone.now(),
    )


def list_due(member: Member, locale: str, now: datetime) -> list[DocumentSummary]:
    """Return the required documents that the member has not accepted."""
    chosen = choose_by_language(list_in_force(KNOWN.list_all(), now), locale)
    required = [each for each in chosen if each.required]
    if not required:
        return []
    answers = fetch_all(_ANSWERS, {"member": member.pk}, Answer)
    accepted = {(each.kind, each.version) for each in answers if each.accepted}
    return [each for each in required if _version_of(each) not in accepted]


def list_due_if_known(
    member: Member, locale: str, now: datetime
) -> list[DocumentSummary]:
    """Return nothing during an outage of the database, when nothing is written.

    A session is answered from the fast store then, and must stay so.
    """
    try:
        return list_due(member, locale, now)
    except DatabaseError:
        logger.warning("legal documents not read")
        return []


def require_consents(member: Member, locale: str, now: datetime) -> None:
    """Raise `ConsentRequiredError` while a required document is due."""
    if due := list_due(member, locale, now):
        raise ConsentRequiredError(
            members={"documents": [summary_payload(each) for each in due]}
        )


def list_consents(member: Member) -> list[Consent]:
    rows = Consent.objects.filter(member=member).select_related("document")
    return list(rows.defer("document__body").order_by("-id"))


def summary_payload(document: DocumentSummary | LegalDocument) -> dict[str, Any]:
    return {
        "id": document.id,
        "kind": document.kind,
        "version": document.version,
        "locale": document.locale,
        "title": document.title,
        "required": document.required,
    }
