"""New posts and comments under an `Idempotency-Key`."""

from collections.abc import Callable

from django.db import transaction
from rest_framework.response import Response
from rest_framework.status import is_success

from accounts.models import Member
from accounts.sessions.authentication import current_member
from board.locking import lock_member_for_update
from board.models import PostKey
from core.api.keyed_answers import KeyedRequest
from core.api.keyed_views import KeyedView
from core.api.views import ViewSet
from core.db.transactions import retry_on_conflict


class KeyedViewSet(KeyedView, ViewSet):
    keyed_actions = frozenset({"create"})

    @property
    def key_owner(self) -> dict[str, int]:
        return {"member_id": current_member(self.request).pk}

    def answer_once(
        self, keyed: KeyedRequest, handle: Callable[[], Response]
    ) -> Response:
        return answer_once(current_member(self.request), keyed, handle)


@retry_on_conflict
def answer_once(
    member: Member, request: KeyedRequest, handle: Callable[[], Response]
) -> Response:
    """Return what `handle` answers, or answered before under the key.

    Writes of a member follow each other. Raises `KeyReusedError` if the key was used
    for another request. An error of `handle` leaves the key free.
    """
    with transaction.atomic():
        lock_member_for_update(member)
        known = PostKey.find(request)
        if known is not None:
            return known
        response = handle()
        if is_success(response.status_code):
            PostKey.store(request, response.data, response.status_code)
    return response
