"""Reports of people without an account: asked for, confirmed, kept (spec 5.13)."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
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
    is_mailable,
    queue_mail,
    require_mail_configured,
)
from accounts.members.email_addresses import validate_new_address
from accounts.security.rate_limits import RateLimitPolicy
from board.models import (
    Comment,
    HiddenReason,
    ModerationCase,
    OutsideReport,
    Post,
    Report,
    TargetType,
)
from board.moderation.cases import UNRESOLVED, lock_unresolved_case, open_case
from board.moderation.targets import Target, lock_target
from board.outside_reports.addresses import find_target
from core.client_ip import rate_limit_key
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError
from core.sealing import hash_secret, is_hash_of

Kind, Status = ModerationCase.Kind, ModerationCase.Status

# Forms are counted before they are looked at.
FORMS_PER_IP = RateLimitPolicy("outside-report-forms", 60, timedelta(hours=1))
# It is apart from the limits of other mails to the address: otherwise the answer would
# tell of an account, and strangers would use up the mails for a forgotten password.
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
    FORMS_PER_IP.consume(rate_limit_key(ip_address))
    target_type, target_id = _find_visible(values["target"])
    email = values["email"]
    validate_new_address(email)
    if not is_mailable(email):
        text = gettext("No mail can be sent to this address.")
        raise InvalidFieldError("email", text)
    MAIL_PER_IP.consume(rate_limit_key(ip_address))
    # The counter outlives the report, so it has a hash.
    sender = hash_secret(normalize_identifier(email), "outside report").hex()
    PER_ADDRESS.consume(sender)
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
    # It was reported before it was hidden. A case of staff alone stays unknown.
    reported = ModerationCase.objects.filter(
        Exists(Report.objects.filter(case=OuterRef("pk")))
        | Exists(OutsideReport.objects.filter(case=OuterRef("pk"))),
        target_type=target_type,
        target_id=target_id,
        status__in=UNRESOLVED,
    )
    return rows.exists() or reported.exclude(kind=Kind.HELD).exists()


@retry_on_conflict
@transaction.atomic
def _store(report: OutsideReport, code: str) -> None:
    older = OutsideReport.objects.filter(confirmed_at=None, email__iexact=report.email)
    # Another request ends the older codes about the same.
    older.filter(target_type=report.target_type, target_id=report.target_id).delete()
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

    A second report of one address in a case has no effect, nor has the same code again.
    Returns False for what was deleted meanwhile without a case; raises
    `CodeInvalidError`.
    """
    _check_code(report_id, typed, now)
    return _confirm(report_id, now)


def _is_code_of(report: OutsideReport, typed: str) -> bool:
    code, context = normalize_code(typed), _hash_context(report.pk)
    return is_hash_of(report.code_hash, code, context)


@retry_on_conflict
def _check_code(report_id: uuid.UUID, typed: str, now: datetime) -> None:
    """Count a wrong code; five of them end the report."""
    with transaction.atomic():
        report = _list_valid(now).select_for_update().filter(pk=report_id).first()
        if report is None:
            raise CodeInvalidError
        is_right = _is_code_of(report, typed)
        if not is_right:
            _list_valid(now).filter(pk=report_id).update(tries=F("tries") + 1)
    if not is_right:
        raise CodeInvalidError


@retry_on_conflict
def _confirm(report_id: uuid.UUID, now: datetime) -> bool:
    known = OutsideReport.objects.filter(pk=report_id).first()
    if known is None:
        raise CodeInvalidError
    with transaction.atomic():
        target = lock_target(known.target_type, known.target_id)
        case = lock_unresolved_case(known.target_type, known.target_id)
        report = OutsideReport.objects.select_for_update().filter(pk=report_id).first()
        if report is None:
            raise CodeInvalidError
        if report.confirmed_at is not None:
            # The button was pressed twice.
            return True
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
    """Return the case for the report, or None if the target is gone or held."""
    is_held = target is not None and target.hidden_reason == HiddenReason.HELD
    if case is None:
        # Staff may have hidden it since the report was written, and show it again.
        if target is None or target.is_removed or is_held:
            return None
        return open_case(target, Kind.NOTICE, now, reason=report.reason)
    if case.kind == Kind.HELD and is_held:
        return None
    # The queue shows a report from outside before those of members.
    case.kind = Kind.NOTICE
    case.reason = case.reason or report.reason
    if case.status == Status.WAITING:
        case.status, case.opened_at = Status.OPEN, now
    case.save(update_fields=["kind", "reason", "status", "opened_at"])
    return case


def _list_valid(now: datetime) -> QuerySet[OutsideReport]:
    """Return reports whose codes count; a confirmed one may be sent again."""
    return OutsideReport.objects.filter(expires_at__gt=now, tries__lt=MAX_TRIES)


def _hash_context(report_id: uuid.UUID) -> str:
    return f"outside report {report_id}"
