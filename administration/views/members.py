"""Administration of members (spec 7.1)."""

from collections.abc import Callable

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import (
    EmailNotVerifiedError,
    MailNotConfiguredError,
    MemberSuspendedError,
    ReauthenticationRequiredError,
    SelfChangeError,
    StaffFactorError,
)
from accounts.login.fresh import (
    require_fresh_authentication,
    require_fresh_authentication_with_factor,
)
from accounts.members.search import MemberFilter, list_members_page
from accounts.members.serializers import MemberSerializer, MemberSummarySerializer
from accounts.models import Member
from accounts.sessions.authentication import current_member
from administration import members
from administration.bulk import BulkChange, change_members
from administration.member_serializers import (
    BulkRequestSerializer,
    BulkResultsSerializer,
    MemberSupportSerializer,
    SupportQuerySerializer,
)
from administration.serializers import (
    MemberPlanRequestSerializer,
    MemberQuerySerializer,
    MemberRoleRequestSerializer,
    MemberStatusRequestSerializer,
)
from administration.support import read_support
from core.api.openapi import page_serializer
from core.api.operations import extend_schema
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsAdministrator
from core.api.serializers import Serializer, validate_body, validate_query
from core.api.views import ViewSet
from core.errors import RateLimitedError


class MemberViewSet(ViewSet):
    permission_classes = [IsAdministrator]
    schema_tag = "Members"
    raises = {
        "destroy": [ReauthenticationRequiredError, SelfChangeError],
        "set_member_role": [ReauthenticationRequiredError, SelfChangeError],
        "set_member_status": [SelfChangeError],
        "set_member_plan": [ReauthenticationRequiredError, SelfChangeError],
        "send_password_reset": [
            MailNotConfiguredError,
            MemberSuspendedError,
            EmailNotVerifiedError,
            RateLimitedError,
        ],
        "end_member_factors": [
            ReauthenticationRequiredError,
            SelfChangeError,
            StaffFactorError,
        ],
        "end_member_sessions": [SelfChangeError],
    }
    lookup_url_kwarg = "member_id"
    lookup_value_converter = "int"

    @extend_schema(
        parameters=[MemberQuerySerializer, PageQuerySerializer],
        responses=page_serializer(MemberSummarySerializer),
    )
    def list(self, request: Request) -> Response:
        """List members.

        Newest first, without profile images. A search counts and pages through 10,000
        hits at most.
        """
        page = get_page_request(request)
        filters = MemberFilter(**validate_query(MemberQuerySerializer, request))
        count, rows = list_members_page(filters, page, timezone.now())
        results = MemberSummarySerializer(rows, many=True).data
        return Response(page_payload(request, page, count, results))

    @extend_schema(responses=MemberSerializer)
    def retrieve(self, request: Request, member_id: int) -> Response:
        """Get a member.

        With the profile image.
        """
        return Response(MemberSerializer(members.get_member(member_id)).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, member_id: int) -> Response:
        """Delete a member.

        All data of the member is deleted. The caller's own account is 400
        `SELF_CHANGE`. The session of a caller with a second factor must be fresh.
        """
        require_fresh_authentication_with_factor(request)
        members.delete_member(current_member(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=MemberRoleRequestSerializer, responses=MemberSerializer)
    @action(detail=True, methods=["put"], url_path="role")
    def set_member_role(self, request: Request, member_id: int) -> Response:
        """Set the role of a member.

        Takes effect immediately, also in live sessions. The session of a caller with a
        second factor must be fresh.
        """
        require_fresh_authentication_with_factor(request)
        return _update_member(
            request, member_id, MemberRoleRequestSerializer, members.set_member_role
        )

    @extend_schema(request=MemberStatusRequestSerializer, responses=MemberSerializer)
    @action(detail=True, methods=["put"], url_path="status")
    def set_member_status(self, request: Request, member_id: int) -> Response:
        """Suspend or reactivate a member.

        A suspension ends all sessions of the member immediately, and ends by itself at
        `until`, within the hour.
        """
        return _update_member(
            request, member_id, MemberStatusRequestSerializer, members.set_member_status
        )

    @extend_schema(request=MemberPlanRequestSerializer, responses=MemberSerializer)
    @action(detail=True, methods=["put"], url_path="plan")
    def set_member_plan(self, request: Request, member_id: int) -> Response:
        """Set the plan of a member.

        The plan has no expiry, and the subscription is cleared. The session of a caller
        with a second factor must be fresh.
        """
        require_fresh_authentication_with_factor(request)
        return _update_member(
            request, member_id, MemberPlanRequestSerializer, members.set_member_plan
        )

    @extend_schema(
        request=None,
        responses={202: OpenApiResponse(description="The mail is on its way.")},
    )
    @action(detail=True, methods=["post"], url_path="password-reset")
    def send_password_reset(self, request: Request, member_id: int) -> Response:
        """Send a member the mail for a new password.

        It has a code, which staff do not see. To an account of the identity provider it
        names the provider. An address that an administrator or an old session has
        written gets no code before the member has confirmed it.
        """
        members.send_password_reset(current_member(request), member_id, timezone.now())
        return Response(status=status.HTTP_202_ACCEPTED)

    @extend_schema(responses={204: None})
    @action(detail=True, methods=["delete"], url_path="factors")
    def end_member_factors(self, request: Request, member_id: int) -> Response:
        """End the second factor of a member.

        For members who have lost everything, who get a notice. Not of administrators,
        whose factor ends at the console. The session of the caller must be fresh.
        """
        require_fresh_authentication(request)
        members.end_member_factors(current_member(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses={204: None})
    @action(detail=True, methods=["delete"], url_path="sessions")
    def end_member_sessions(self, request: Request, member_id: int) -> Response:
        """End all sessions of a member.

        Personal tokens too. The member can log in again.
        """
        members.end_member_sessions(current_member(request), member_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="getMemberSupport",
        parameters=[SupportQuerySerializer],
        responses=MemberSupportSerializer,
    )
    @action(detail=True, methods=["get"], url_path="support")
    def get_member_support(self, request: Request, member_id: int) -> Response:
        """Get what support needs to know of a member.

        Never the content of the ledger, only the numbers of its rows. Each reading is
        logged with its reason, and the member sees it in their security log.
        """
        members.get_member(member_id)
        reason = validate_query(SupportQuerySerializer, request)["reason"]
        actor, now = current_member(request), timezone.now()
        support = read_support(actor, member_id, reason, now)
        return Response(MemberSupportSerializer(support).data)

    @extend_schema(
        operation_id="changeMembers",
        request=BulkRequestSerializer,
        responses=BulkResultsSerializer,
    )
    @action(detail=False, methods=["post"], url_path="bulk")
    def change_members(self, request: Request) -> Response:
        """Change up to 100 members.

        Each one in a transaction of its own, with a result for each: a refused member
        does not stop the others. If the caller loses the role meanwhile, nobody is
        changed after it.
        """
        body = validate_body(BulkRequestSerializer, request)
        ids, now = body.pop("ids"), timezone.now()
        results = change_members(current_member(request), ids, BulkChange(**body), now)
        return Response(BulkResultsSerializer({"results": results}).data)


def _update_member(
    request: Request,
    member_id: int,
    serializer_class: type[Serializer],
    set_value: Callable[..., Member],
) -> Response:
    actor = current_member(request)
    # 404 and `SELF_CHANGE` precede 400 for an invalid body.
    members.get_other_member(actor, member_id)
    values = validate_body(serializer_class, request)
    return Response(MemberSerializer(set_value(actor, member_id, **values)).data)
