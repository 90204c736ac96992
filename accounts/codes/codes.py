"""Codes by mail: made, checked and spent once (spec 2.11).

A request exists without an account too: a confirmation takes the same time.
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

# No vowels and no letters that look alike (RFC 8628, section 6.1).
ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
CODE_LENGTH = 8
CODE_LIFETIME = timedelta(minutes=10)
MAX_TRIES = 5
# Operators may look up expired requests.
RETENTION = timedelta(days=1)
_IGNORED_RE = re.compile(r"[\s-]")


def make_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def format_code(code: str) -> str:
    half = CODE_LENGTH // 2
    return f"{code[:half]}-{code[half:]}"


def normalize_code(text: str) -> str:
    return _IGNORED_RE.sub("", text).upper()


def make_link(page: str, request_id: uuid.UUID, code: str) -> str:
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
    context = _hash_context(request.pk, member.pk)
    Code.objects.create(
        request=request,
        member=member,
        mail=mail,
        email=email,
        code_hash=hash_secret(code, context),
    )


@retry_on_conflict
def check_code(purpose: str, request_id: uuid.UUID, typed: str, now: datetime) -> Code:
    """Return the code, not yet spent, or count a try and raise `CodeInvalidError`."""
    found = None
    with transaction.atomic():
        # Concurrent guesses wait for each other.
        request = (
            CodeRequest.objects.select_for_update(of=("self",))
            .filter(
                pk=request_id, purpose=purpose, expires_at__gt=now, tries__lt=MAX_TRIES
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
    """Raise `CodeInvalidError` if a concurrent request was faster."""
    if not Code.objects.filter(pk=code.pk).delete()[0]:
        raise CodeInvalidError


def purge_code_requests(now: datetime) -> int:
    old = CodeRequest.objects.filter(expires_at__lte=now - RETENTION)
    return old.delete()[0]


def _find_code(request: CodeRequest, code: str) -> Code | None:
    for row in request.codes.all():
        if is_hash_of(row.code_hash, code, _hash_context(request.pk, row.member_id)):
            return row
    return None


def _hash_context(request_id: uuid.UUID, member_id: int) -> str:
    return f"code {request_id} {member_id}"
