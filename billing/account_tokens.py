"""Account ids, by which a purchase names its member to a store (spec 6.10)."""

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
    """Return the member's token for the stores, which the first call creates.

    Raises `AuthenticationRequiredError` if the member was deleted in the meantime.
    """
    tokens = AccountToken.objects.filter(member=member)
    found = tokens.first()
    if found is None:
        value = uuid.uuid4()
        created = AccountToken(member=member, uuid=value, digest=_hash(str(value)))
        # Of calls at once the first one counts.
        AccountToken.objects.bulk_create([created], ignore_conflicts=True)
        found = tokens.first()
    if found is None:
        raise AuthenticationRequiredError
    return found


def is_account_id_of(member: Member, account_id: str) -> bool:
    """Return True if a store's account id names the member.

    By the token of `get_account_token`, or by the member's id, each as it is or as its
    SHA-256 in hex.
    """
    if account_id in {str(member.pk), hash_account_id(member.pk)}:
        return True
    tokens = AccountToken.objects.filter(_token_condition(account_id), member=member)
    return tokens.exists()


def find_member_id(account_id: str) -> int | None:
    """Return the id of the member whom a store's account id names, or None."""
    by_token = AccountToken.objects.filter(_token_condition(account_id))
    members = Member.objects.filter(pk__in=by_token.values("member"))
    if not members.exists():
        members = Member.objects.with_account_id_hash(account_id)
    if _MEMBER_ID_RE.fullmatch(account_id):
        members = Member.objects.filter(pk=int(account_id))
    return members.values_list("pk", flat=True).first()


def hash_account_id(member_id: int) -> str:
    """Return the SHA-256 in hex by which an app may name a member to the store."""
    return _hash(str(member_id))


def _token_condition(account_id: str) -> Q:
    condition = Q(digest=account_id)
    if _UUID_RE.fullmatch(account_id):
        condition |= Q(uuid=account_id)
    return condition


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
