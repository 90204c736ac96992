"""Reports of posts, comments and members, by members."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.sessions.authentication import current_member
from board.errors import BoardSuspendedError, SelfReportError
from board.keyed import KeyedViewSet
from board.models import TargetType
from board.moderation.reports import report, require_target, withdraw_report
from board.moderation.serializers import ReportRequestSerializer
from board.standing import require_voice
from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.token_scopes import BOARD
from core.errors import NotFoundError, RateLimitedError

REPORTED = {202: OpenApiResponse(description="Staff will look at it.")}
RAISED = [BoardSuspendedError, NotFoundError, SelfReportError, RateLimitedError]


class ReportViewSet(KeyedViewSet):
    schema_tag = "Reports"
    target_type: ClassVar[TargetType]

    def send(self, request: Request, target_id: int) -> Response:
        member, now = current_member(request), timezone.now()
        require_voice(member, now)
        # 404 precedes 400 for an invalid body.
        require_target(self.target_type, target_id)
        body = validate_body(ReportRequestSerializer, request)
        report(member, self.target_type, target_id, now=now, **body)
        return Response(status=status.HTTP_202_ACCEPTED)

    def withdraw(self, request: Request, target_id: int) -> Response:
        withdraw_report(current_member(request), self.target_type, target_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PostReportViewSet(ReportViewSet):
    permission_classes = [IsMember]
    token_scopes = BOARD
    target_type = TargetType.POST
    raises = {"create": RAISED}

    @extend_schema(
        operation_id="reportPost",
        request=ReportRequestSerializer,
        responses=REPORTED,
    )
    def create(self, request: Request, post_id: int) -> Response:
        """Report a post.

        A second time is without effect. Only staff learn who reported. At most 30
        reports a day.
        """
        return self.send(request, post_id)

    @extend_schema(operation_id="withdrawPostReport", responses={204: None})
    def destroy(self, request: Request, post_id: int) -> Response:
        """Take the report of a post back.

        While nobody has decided; 204 also if there is none.
        """
        return self.withdraw(request, post_id)


class CommentReportViewSet(ReportViewSet):
    permission_classes = [IsMember]
    token_scopes = BOARD
    target_type = TargetType.COMMENT
    raises = {"create": RAISED}

    @extend_schema(
        operation_id="reportComment",
        request=ReportRequestSerializer,
        responses=REPORTED,
    )
    def create(self, request: Request, comment_id: int) -> Response:
        """Report a comment.

        A second time is without effect. Only staff learn who reported. At most 30
        reports a day.
        """
        return self.send(request, comment_id)

    @extend_schema(operation_id="withdrawCommentReport", responses={204: None})
    def destroy(self, request: Request, comment_id: int) -> Response:
        """Take the report of a comment back.

        While nobody has decided; 204 also if there is none.
        """
        return self.withdraw(request, comment_id)


class MemberReportViewSet(ReportViewSet):
    permission_classes = [IsMember]
    token_scopes = BOARD
    target_type = TargetType.MEMBER
    raises = {"create": RAISED}

    @extend_schema(
        operation_id="reportMember",
        request=ReportRequestSerializer,
        responses=REPORTED,
    )
    def create(self, request: Request, member_id: int) -> Response:
        """Report a member.

        A second time is without effect. Only staff learn who reported. At most 30
        reports a day.
        """
        return self.send(request, member_id)

    @extend_schema(operation_id="withdrawMemberReport", responses={204: None})
    def destroy(self, request: Request, member_id: int) -> Response:
        """Take the report of a member back.

        While nobody has decided; 204 also if there is none.
        """
        return self.withdraw(request, member_id)
