"""Mails with codes for the accounts of a login id or an address (spec 2.9, 2.12).

A job finds the accounts: a request takes the same time with and without an account.
"""

import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from django.db import transaction
from django.db.models import Case, F, IntegerField, QuerySet, Value, When

from accounts.codes.codes import (
    CODE_LIFETIME,
    format_code,
    make_code,
    make_link,
    save_code,
)
from accounts.identifiers import normalize_identifier
from accounts.mail.outbox import (
    MAIL_PER_IP,
    consume_mail_limits,
    is_mailable,
    queue_mail,
    require_mail_configured,
)
from accounts.mail.trigger import send_on_commit
from accounts.members.search import own_email_condition
from accounts.models import CodeRequest, Member
from accounts.security.pending_steps import end_codes
from accounts.security.rate_limits import RateLimitPolicy
from core.client_ip import rate_limit_key
from core.db.transactions import retry_on_conflict
from core.errors import RateLimitedError
from core.sealing import UnsealingError, hash_secret, seal, unseal

logger = logging.getLogger(__name__)

# Strangers can sign up with the same address.
MAX_ACCOUNTS = 10


@dataclass(frozen=True, slots=True)
class CodeMail:
    """A kind of mail with codes; `page` is the last part of its links.

    `explain` returns values of the template for an account that gets no code.
    """

    purpose: str
    # Part of the sealing context of stored targets.
    name: str
    template: str
    page: str
    per_ip: RateLimitPolicy
    # A refused mail is left out silently.
    per_address: RateLimitPolicy
    explain: Callable[[Member], Mapping[str, str]]

    def get_context(self, request_id: uuid.UUID) -> str:
        return f"{self.name} {request_id}"


def list_mailed() -> QuerySet[Member]:
    return Member.objects.filter(own_email_condition(), status=Member.Status.ACTIVE)


def request_codes(
    kind: CodeMail, target: Mapping[str, str], ip_address: str, now: datetime
) -> CodeRequest:
    """Store a request for a typed `login_id` or `email`."""
    require_mail_configured()
    kind.per_ip.consume(rate_limit_key(ip_address))
    MAIL_PER_IP.consume(rate_limit_key(ip_address))
    request_id = uuid.uuid4()
    sealed = seal(orjson.dumps(dict(target)), kind.get_context(request_id))
    return store_request(kind, now, id=request_id, target=sealed)


@retry_on_conflict
@transaction.atomic
def store_request(kind: CodeMail, now: datetime, **values: object) -> CodeRequest:
    request = CodeRequest.objects.create(
        purpose=kind.purpose, created_at=now, expires_at=now + CODE_LIFETIME, **values
    )
    send_on_commit()
    return request


def process_request(kind: CodeMail, request: CodeRequest, now: datetime) -> None:
    by_address = defaultdict(list)
    for member in _list_members(kind, request, now):
        by_address[member.email].append(member.pk)
    _send_codes(kind, request, by_address, now)


def _list_members(
    kind: CodeMail, request: CodeRequest, now: datetime
) -> Sequence[Member]:
    if request.expires_at <= now:
        return []
    members = list_mailed()
    if request.member_id is not None:
        members = members.filter(pk=request.member_id)
    else:
        try:
            sealed = request.target or b""
            target = orjson.loads(unseal(sealed, kind.get_context(request.pk)))
        except (UnsealingError, ValueError):
            logger.error("the target of a %s cannot be read", kind.name)
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


def _is_allowed(kind: CodeMail, address: str) -> bool:
    recipient = hash_secret(normalize_identifier(address), "mail recipient").hex()
    try:
        kind.per_address.consume(recipient)
        consume_mail_limits(address)
    except RateLimitedError:
        logger.warning("%s left out: too many for the address", kind.name)
        return False
    return True


@retry_on_conflict
def _send_codes(
    kind: CodeMail,
    request: CodeRequest,
    ids_by_address: Mapping[str, Sequence[int]],
    now: datetime,
) -> None:
    ids = [pk for ids in ids_by_address.values() for pk in ids]
    with transaction.atomic():
        # Every transaction locks members before requests.
        locked = {
            member.pk: member
            for member in list_mailed()
            .select_for_update(no_key=True)
            .filter(pk__in=ids)
            .order_by("id")
        }
        rows = CodeRequest.objects.filter(pk=request.pk, processed_at=None)
        if not rows.select_for_update(skip_locked=True, of=("self",)).exists():
            return
        for address, member_ids in ids_by_address.items():
            if request.member_id is None and not _is_allowed(kind, address):
                continue
            members = [locked[pk] for pk in member_ids if pk in locked]
            current = [member for member in members if member.email == address]
            _queue_codes(kind, request, current, address)
        CodeRequest.objects.filter(pk=request.pk).update(processed_at=now, target=None)


def _queue_codes(
    kind: CodeMail, request: CodeRequest, members: Sequence[Member], address: str
) -> None:
    if not members:
        return
    accounts, codes = [], {}
    for member in members:
        # The row links mail and account, even without a code in the mail.
        code = codes[member] = make_code()
        values = kind.explain(member)
        if not values:
            end_codes(member, kind.purpose)
            link = make_link(kind.page, request.pk, code)
            values = {"code": format_code(code), "link": link}
        accounts.append({"login_id": member.login_id, **values})
    mail = queue_mail(
        members[0] if len(members) == 1 else None,
        kind.template,
        {"accounts": accounts, "has_code": any("code" in each for each in accounts)},
        to=address,
        language=members[0].locale,
        expires_at=request.expires_at,
    )
    for member, code in codes.items():
        save_code(request, member, code, email=address, mail=mail)
