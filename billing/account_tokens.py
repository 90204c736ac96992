"""Account ids, by which purchases name members (spec 6.10)."""

import hashlib
import re
import uuid

from django.db.models import Q

from accounts.models import Member
from billing.models import AccountToken
from core.api.exception_handler import AuthenticationRequiredError

_MEMBER_ID_RE = re.compile(r"[0-9]{1,18}")
_UUID_RE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def get_account_token(member: Member) -> AccountToken:
    """Return the member's token; the first call creates it.

    Raises `AuthenticationRequiredError` for a deleted member.
    """
    tokens = AccountToken.objects.filter(member=member)
    found = tokens.first()
    if found is None:
        value = uuid.uuid4()
        created = AccountToken(member=member, uuid=value, digest=hash_account_id(value))
        # The first of concurrent calls wins.
        AccountToken.objects.bulk_create([created], ignore_conflicts=True)
        found = tokens.first()
    if found is None:
        raise AuthenticationRequiredError
    return found


def is_account_id_of(member: Member, account_id: str) -> bool:
    """Return True for the account token, the member's id, or the SHA-256 of either."""
    if account_id in {str(member.pk), hash_account_id(member.pk)}:
        return True
    tokens = AccountToken.objects.filter(_token_condition(account_id), member=member)
    return tokens.exists()


def find_member_id(account_id: str) -> int | None:
    by_token = AccountToken.objects.filter(_token_condition(account_id))
    members = Member.objects.filter(pk__in=by_token.values("member"))
    if not members.exists():
        members = Member.objects.with_account_id_hash(account_id)
    if _MEMBER_ID_RE.fullmatch(account_id):
        members = Member.objects.filter(pk=int(account_id))
    return members.values_list("pk", flat=True).first()


def hash_account_id(account_id: int | uuid.UUID) -> str:
    return hashlib.sha256(str(account_id).encode()).hexdigest()


def _token_condition(account_id: str) -> Q:
    condition = Q(digest=account_id)
    if _UUID_RE.fullmatch(account_id):
        condition |= Q(uuid=account_id)
    return condition
