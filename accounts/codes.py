"""Codes that are sent by mail: made, checked and spent once (spec 2.11).

Codes are stored as HMACs. The tries are counted on the request, which exists also if
nothing was sent: a confirmation does the same work whether or not there is an account.
"""

import re
import secrets
import uuid
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.conf import settings
from django.db import transaction

from accounts.errors import CodeInvalidError
from accounts.models import Code, CodeRequest, Mail, Member
from core.db.transactions import retry_on_conflict
from core.sealing import hash_secret, is_hash_of

# Without vowels and what is read as another letter (RFC 8628, section 6.1).
ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
CODE_LENGTH = 8
CODE_LIFETIME = timedelta(minutes=10)
MAX_TRIES = 5
# Rows of requests that ended are of no use; the last day tells an operator something.
RETENTION = timedelta(days=1)
_IGNORED_RE = re.compile(r"[\s-]")


def make_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def format_code(code: str) -> str:
    """Return the code as people read it: `WDJB-MJHT`."""
    half = CODE_LENGTH // 2
    return f"{code[:half]}-{code[half:]}"


def normalize_code(text: str) -> str:
    """Return a typed code as it was made: in any case, with or without hyphens."""
    return _IGNORED_RE.sub("", text).upper()


def make_link(page: str, request_id: uuid.UUID, code: str) -> str:
    """Return the address of the page that confirms a code: `confirm` or `reset`."""
    query = urlencode({"request": str(request_id), "code": format_code(code)})
    return f"{settings.PUBLIC_URL}/account/{page}?{query}"


def save_code(
    request: CodeRequest,
    member: Member,
    code: str,
    *,
    email: str,
    mail: Mail | None = None,
) -> None:
    """Store the code that a mail brings to the address."""
    context = _hash_context(request.pk, member.pk)
    Code.objects.create(
        request=request,
        member=member,
        mail=mail,
        email=email,
        code_hash=hash_secret(code, context),
    )


def end_codes(member: Member, purpose: str | None = None) -> None:
    """End the member's codes, of one purpose if given; the caller locks the member."""
    codes = Code.objects.filter(member=member)
    if purpose is not None:
        codes = codes.filter(request__purpose=purpose)
    codes.delete()


@retry_on_conflict
def check_code(purpose: str, request_id: uuid.UUID, typed: str, now: datetime) -> Code:
    """Return the code that was typed, without spending it; count a wrong try.

    Raises `CodeInvalidError` for a wrong, spent, expired or unknown one alike.
    """
    found = None
    with transaction.atomic():
        # The lock lets guesses at the same time come one after the other.
        request = (
            CodeRequest.objects.select_for_update(of=("self",))
            .filter(
                pk=request_id,
                purpose=purpose,
                expires_at__gt=now,
                tries__lt=MAX_TRIES,
            )
            .first()
        )
        if request is not None:
            found = _find_code(request, normalize_code(typed))
            if found is None:
                request.tries += 1
                request.save(update_fields=["tries"])
    if found is None:
        raise CodeInvalidError
    return found


def spend_code(code: Code) -> None:
    """Spend a checked code; the caller has locked its member.

    Raises `CodeInvalidError` if it has been spent or ended since: of confirmations at
    once, one deletes the row.
    """
    if not Code.objects.filter(pk=code.pk).delete()[0]:
        raise CodeInvalidError


def purge_code_requests(now: datetime) -> int:
    """Delete requests that expired long ago, with their codes; return their number."""
    old = CodeRequest.objects.filter(expires_at__lte=now - RETENTION)
    return old.delete()[0]


def _find_code(request: CodeRequest, code: str) -> Code | None:
    for row in request.codes.all():
        if is_hash_of(row.code_hash, code, _hash_context(request.pk, row.member_id)):
            return row
    return None


def _hash_context(request_id: uuid.UUID, member_id: int) -> str:
    return f"code {request_id} {member_id}"
