"""What an author reads of a decision, and says against it."""

from typing import Any

from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import InboxItem, Member
from accounts.sessions.authentication import current_member
from board.errors import AppealClosedError
from board.models import Decision, ModerationCase, TargetType
from board.moderation.appeals import (
    appeal,
    find_open_appeals,
    find_told_case,
    require_open_appeal,
)
from board.moderation.notices import CASE
from board.moderation.serializers import AppealRequestSerializer, InboxCaseSerializer
from board.moderation.targets import find_target_payload
from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.views import APIView
from core.errors import NotFoundError

SCHEMA_TAG = "Inbox"


class InboxCaseView(APIView):
    permission_classes = [IsMember]
    schema_tag = SCHEMA_TAG

    @extend_schema(operation_id="getInboxCase", responses=InboxCaseSerializer)
    def get(self, request: Request, item_id: int) -> Response:
        """Get the decision that an item tells of.

        With the text of what the caller wrote, also where staff have deleted it, until
        it is removed. 404 for an item that tells of no decision about the caller. Of
        one item for many decisions it is the decision that the caller can object to.
        """
        member = current_member(request)
        case = find_told_case(find_case(member, item_id), timezone.now())
        return Response(_case_payload(member, case))


class AppealView(APIView):
    permission_classes = [IsMember]
    schema_tag = SCHEMA_TAG
    raises = {"post": [AppealClosedError]}

    @extend_schema(
        operation_id="appealDecision",
        request=AppealRequestSerializer,
        responses={204: None},
    )
    def post(self, request: Request, item_id: int) -> Response:
        """Object to a decision.

        Once, within 30 days. Another moderator decides then, for good. 409
        `ALREADY_RESOLVED` if nothing can be said against it any more.
        """
        member = current_member(request)
        case = find_case(member, item_id)
        # 409 precedes 400 for an invalid body.
        require_open_appeal(case, timezone.now())
        body = validate_body(AppealRequestSerializer, request)
        appeal(member, case.pk, body["text"], timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


def find_case(member: Member, item_id: int) -> ModerationCase:
    """Return the case about the member; raise `NotFoundError`."""
    items = InboxItem.objects.filter(member=member, target_type=CASE)
    item = items.filter(pk=item_id).first()
    cases = ModerationCase.objects.filter(author=member)
    case = cases.filter(pk=item.target_id).first() if item else None
    if case is None:
        raise NotFoundError
    return case


def _case_payload(author: Member, case: ModerationCase) -> dict[str, Any]:
    decision = Decision.objects.filter(case=case).order_by("-id").first()
    target = find_target_payload(case.target_type, case.target_id)
    opened = find_open_appeals([case.pk], timezone.now()).get(case.pk)
    is_member = case.target_type == TargetType.MEMBER
    until = case.blind_until
    if decision is not None and decision.silence_days and is_member:
        until = author.silenced_until
    return {
        "action": decision and decision.action,
        "reason": (decision and decision.reason) or None,
        "decidedAt": decision and decision.decided_at,
        "until": until,
        "appealUntil": opened.until if opened is not None else None,
        "appeal": decision and decision.appeal,
        "title": target["title"] if target else "",
        "content": target["content"] if target else "",
    }
