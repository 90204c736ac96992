"""Forgotten passwords: a code by mail allows a new password (spec 2.12).

A job finds the accounts: a request takes the same time with and without an account.
"""

import logging
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import orjson
from django.db import transaction
from django.db.models import Case, F, IntegerField, QuerySet, Value, When

from accounts.codes.codes import (
    CODE_LIFETIME,
    check_code,
    format_code,
    make_code,
    make_link,
    save_code,
    spend_code,
)
from accounts.errors import CodeInvalidError
from accounts.identifiers import normalize_identifier
from accounts.login.identities import remove_unproved_identities
from accounts.mail.outbox import (
    MAIL_PER_IP,
    consume_mail_limits,
    is_mail_configured,
    is_mailable,
    queue_mail,
    queue_notice,
    require_mail_configured,
)
from accounts.mail.trigger import send_on_commit
from accounts.members.passwords import validate_new_password
from accounts.members.search import own_email_condition
from accounts.models import Code, CodeRequest, Member
from accounts.security.events import SecurityEvent, log_security_event
from accounts.security.pending_steps import end_codes
from accounts.security.rate_limits import RateLimitPolicy
from accounts.sessions.store import revoke_sessions
from core.client_ip import rate_limit_key
from core.db.transactions import retry_on_conflict
from core.errors import RateLimitedError
from core.sealing import UnsealingError, hash_secret, seal, unseal

logger = logging.getLogger(__name__)

RESET_PER_IP = RateLimitPolicy("password-reset", 5, timedelta(hours=1))
# A refused mail is left out silently.
RESET_PER_ADDRESS = RateLimitPolicy("password-reset-address", 3, timedelta(hours=1))
# Strangers can sign up with the same address.
MAX_ACCOUNTS = 10
BATCH_SIZE = 200
PURPOSE = CodeRequest.Purpose.RESET_PASSWORD
PROVIDER_NAME = "Google"


def request_reset(
    target: Mapping[str, str], ip_address: str, now: datetime
) -> CodeRequest:
    """Store a request for a typed `login_id` or `email`."""
    require_mail_configured()
    RESET_PER_IP.consume(rate_limit_key(ip_address))
    MAIL_PER_IP.consume(rate_limit_key(ip_address))
    request_id = uuid.uuid4()
    sealed = seal(orjson.dumps(dict(target)), _target_context(request_id))
    return _store_request(now, id=request_id, target=sealed)


def request_reset_for(member: Member, now: datetime) -> CodeRequest:
    """Store an administrator's request, in the transaction of its log."""
    require_mail_configured()
    return _store_request(now, member=member)


@retry_on_conflict
@transaction.atomic
def _store_request(now: datetime, **values: object) -> CodeRequest:
    request = CodeRequest.objects.create(
        purpose=PURPOSE, created_at=now, expires_at=now + CODE_LIFETIME, **values
    )
    send_on_commit()
    return request


def has_waiting_requests() -> bool:
    return is_mail_configured() and _list_waiting().exists()


def process_requests(now: datetime) -> int:
    requests = list(_list_waiting().order_by("created_at", "id")[:BATCH_SIZE])
    for request in requests:
        by_address = defaultdict(list)
        for member in _list_members(request, now):
            by_address[member.email].append(member.pk)
        _send_codes(request, by_address, now)
    return len(requests)


def confirm_reset(
    request_id: uuid.UUID, typed: str, new_password: str, now: datetime
) -> None:
    code = check_code(PURPOSE, request_id, typed, now)
    member = _list_resettable().filter(pk=code.member_id).first()
    if member is None:
        raise CodeInvalidError
    validate_new_password(new_password, member, field="newPassword")
    member.set_password(new_password)
    _set_password(member, code, now)


@retry_on_conflict
def _set_password(member: Member, code: Code, now: datetime) -> None:
    with transaction.atomic():
        rows = _list_resettable().select_for_update(no_key=True)
        locked = rows.filter(pk=member.pk, email=code.email).first()
        if locked is None:
            raise CodeInvalidError
        spend_code(code)
        if not locked.is_email_verified:
            remove_unproved_identities(locked, code.email)
        locked.password = member.password
        locked.verified_email = code.email
        locked.pending_email = ""
        locked.save_fields("password", "verified_email", "pending_email")
        end_codes(locked)
        revoke_sessions(locked)
        log_security_event(SecurityEvent.PASSWORD_RESET, locked.pk)
        queue_notice(locked, "password_was_reset")


def _list_waiting() -> QuerySet[CodeRequest]:
    return CodeRequest.objects.filter(purpose=PURPOSE, processed_at=None)


def _list_members(request: CodeRequest, now: datetime) -> Sequence[Member]:
    if request.expires_at <= now:
        return []
    members = _list_mailed()
    if request.member_id is not None:
        members = members.filter(pk=request.member_id)
    else:
        try:
            sealed = request.target or b""
            target = orjson.loads(unseal(sealed, _target_context(request.pk)))
        except (UnsealingError, ValueError):
            logger.error("what a password reset is for cannot be read")
            return []
        if "email" in target:
            found = Member.objects.with_email(target["email"])
        else:
            found = Member.objects.with_login_id(target["login_id"])
        members = members.filter(pk__in=found.values("pk"))
    verified_first = Case(
        When(verified_email=F("email"), then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    ordered = members.order_by(verified_first, "id")[:MAX_ACCOUNTS]
    return [member for member in ordered if is_mailable(member.email)]


def _list_mailed() -> QuerySet[Member]:
    return Member.objects.filter(own_email_condition(), status=Member.Status.ACTIVE)


def _list_resettable() -> QuerySet[Member]:
    return _list_mailed().exclude(provider=Member.Provider.IDP)


def _is_allowed(address: str) -> bool:
    recipient = hash_secret(normalize_identifier(address), "mail recipient").hex()
    try:
        RESET_PER_ADDRESS.consume(recipient)
        consume_mail_limits(address)
    except RateLimitedError:
        logger.warning("password reset left out: too many for the address")
        return False
    return True


@retry_on_conflict
def _send_codes(
    request: CodeRequest, ids_by_address: Mapping[str, Sequence[int]], now: datetime
) -> None:
    ids = [pk for ids in ids_by_address.values() for pk in ids]
    with transaction.atomic():
        # Every transaction locks members before requests.
        locked = {
            member.pk: member
            for member in _list_mailed()
            .select_for_update(no_key=True)
            .filter(pk__in=ids)
            .order_by("id")
        }
        rows = _list_waiting().select_for_update(skip_locked=True, of=("self",))
        if not rows.filter(pk=request.pk).exists():
            return
        for address, member_ids in ids_by_address.items():
            if request.member_id is None and not _is_allowed(address):
                continue
            members = [locked[pk] for pk in member_ids if pk in locked]
            _queue_codes(request, [m for m in members if m.email == address], address)
        CodeRequest.objects.filter(pk=request.pk).update(processed_at=now, target=None)


def _queue_codes(request: CodeRequest, members: Sequence[Member], address: str) -> None:
    if not members:
        return
    accounts, codes = [], {}
    for member in members:
        end_codes(member, PURPOSE)
        # The row links mail and account, even without a password.
        code = codes[member] = make_code()
        values = {"login_id": member.login_id}
        if member.provider == Member.Provider.IDP:
            values["provider"] = PROVIDER_NAME
        else:
            values["code"] = format_code(code)
            values["link"] = make_link("reset", request.pk, code)
        accounts.append(values)
    mail = queue_mail(
        members[0] if len(members) == 1 else None,
        "reset_password",
        {"accounts": accounts},
        to=address,
        language=members[0].locale,
        expires_at=request.expires_at,
    )
    for member, code in codes.items():
        save_code(request, member, code, email=address, mail=mail)


def _target_context(request_id: uuid.UUID) -> str:
    return f"password reset {request_id}"
