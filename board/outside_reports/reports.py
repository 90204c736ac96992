"""Reports of people without an account: asked for, confirmed, kept (spec 5.13)."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext

from accounts.codes.codes import (
    CODE_LIFETIME,
    MAX_TRIES,
    format_code,
    make_code,
    normalize_code,
)
from accounts.errors import CodeInvalidError
from accounts.identifiers import normalize_identifier
from accounts.mail.outbox import (
    MAIL_PER_IP,
    consume_mail_limits,
    is_mailable,
    queue_mail,
    require_mail_configured,
)
from accounts.security.rate_limits import RateLimitPolicy
from board.models import Comment, ModerationCase, OutsideReport, Post, TargetType
from board.moderation.cases import UNRESOLVED, lock_unresolved_case, open_case
from board.moderation.targets import Target, lock_target
from board.outside_reports.addresses import find_target
from core.client_ip import rate_limit_key
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError
from core.sealing import hash_secret, is_hash_of

Kind, Status = ModerationCase.Kind, ModerationCase.Status

PER_ADDRESS = RateLimitPolicy("outside-reports", 5, timedelta(days=1))


def ask_for_report(
    values: Mapping[str, str], *, language: str, ip_address: str, now: datetime
) -> OutsideReport:
    """Store a report and mail its code; `values` are those of the form.

    Raises `InvalidFieldError` for an address that is no post or comment that the public
    of the board sees, and for an email that cannot be mailed; `RateLimitedError`,
    `MailNotConfiguredError`.
    """
    require_mail_configured()
    target_type, target_id = _find_visible(values["target"])
    email = values["email"]
    if not is_mailable(email):
        text = gettext("No mail can be sent to this address.")
        raise InvalidFieldError("email", text)
    MAIL_PER_IP.consume(rate_limit_key(ip_address))
    # The counter outlives the report, so it has a hash.
    sender = hash_secret(normalize_identifier(email), "outside report").hex()
    PER_ADDRESS.consume(sender)
    consume_mail_limits(email)
    code, report_id = make_code(), uuid.uuid4()
    report = OutsideReport(
        id=report_id,
        target_type=target_type,
        target_id=target_id,
        reason=values["reason"],
        text=values["text"],
        name=values["name"],
        email=email,
        language=language,
        code_hash=hash_secret(code, _hash_context(report_id)),
        created_at=now,
        expires_at=now + CODE_LIFETIME,
    )
    _store(report, code)
    return report


def _find_visible(text: str) -> tuple[TargetType, int]:
    found = find_target(text)
    if found is None or not _is_reportable(*found):
        text = gettext("There is no such post or comment.")
        raise InvalidFieldError("target", text)
    return found


def _is_reportable(target_type: TargetType, target_id: int) -> bool:
    rows: QuerySet[Any] = Post.objects.filter(pk=target_id, is_hidden=False)
    if target_type == TargetType.COMMENT:
        shown = Comment.objects.filter(is_hidden=False, post__is_hidden=False)
        rows = shown.filter(pk=target_id)
    cases = ModerationCase.objects.exclude(kind=Kind.HELD).filter(
        target_type=target_type, target_id=target_id, status__in=UNRESOLVED
    )
    return rows.exists() or cases.exists()


@retry_on_conflict
@transaction.atomic
def _store(report: OutsideReport, code: str) -> None:
    report.save(force_insert=True)
    query = urlencode({"request": str(report.pk), "code": format_code(code)})
    context = {
        "code": format_code(code),
        "link": f"{settings.PUBLIC_URL}/legal/report?{query}",
        "target": report.target_path,
    }
    queue_mail(
        None,
        "outside_report_code",
        context,
        to=report.email,
        language=report.language,
        expires_at=report.expires_at,
    )


def confirm_report(report_id: uuid.UUID, typed: str, now: datetime) -> bool:
    """Open a case for the report, or add it to the open one.

    A second report of one address in a case has no effect. Returns False for what was
    deleted meanwhile without a case; raises `CodeInvalidError`.
    """
    _check_code(report_id, typed, now)
    return _confirm(report_id, now)


@retry_on_conflict
def _check_code(report_id: uuid.UUID, typed: str, now: datetime) -> None:
    """Count a wrong code; five of them end the report."""
    with transaction.atomic():
        report = _list_waiting(now).select_for_update().filter(pk=report_id).first()
        if report is None:
            raise CodeInvalidError
        code, context = normalize_code(typed), _hash_context(report.pk)
        is_right = is_hash_of(report.code_hash, code, context)
        if not is_right:
            _list_waiting(now).filter(pk=report_id).update(tries=F("tries") + 1)
    if not is_right:
        raise CodeInvalidError


@retry_on_conflict
def _confirm(report_id: uuid.UUID, now: datetime) -> bool:
    known = _list_waiting(now).filter(pk=report_id).first()
    if known is None:
        raise CodeInvalidError
    with transaction.atomic():
        target = lock_target(known.target_type, known.target_id)
        case = lock_unresolved_case(known.target_type, known.target_id)
        report = _list_waiting(now).select_for_update().filter(pk=report_id).first()
        if report is None:
            raise CodeInvalidError
        case = _open(report, target, case, now)
        if case is None:
            report.delete()
            return False
        same = OutsideReport.objects.filter(case=case, email__iexact=report.email)
        if same.exists():
            report.delete()
            return True
        report.case, report.confirmed_at = case, now
        report.save(update_fields=["case", "confirmed_at"])
    return True


def _open(
    report: OutsideReport,
    target: Target | None,
    case: ModerationCase | None,
    now: datetime,
) -> ModerationCase | None:
    """Return the case for the report, or None if nothing is there to be judged."""
    is_visible = target is not None and target.is_visible
    if case is None:
        if target is None or not is_visible:
            return None
        return open_case(target, Kind.NOTICE, now, reason=report.reason)
    if case.kind == Kind.HELD and not is_visible:
        return None
    # Somebody's rights come before what members reported.
    case.kind = Kind.NOTICE
    case.reason = case.reason or report.reason
    if case.status == Status.WAITING:
        case.status, case.opened_at = Status.OPEN, now
    case.save(update_fields=["kind", "reason", "status", "opened_at"])
    return case


def _list_waiting(now: datetime) -> QuerySet[OutsideReport]:
    return OutsideReport.objects.filter(
        confirmed_at=None, expires_at__gt=now, tries__lt=MAX_TRIES
    )


def _hash_context(report_id: uuid.UUID) -> str:
    return f"outside report {report_id}"
