"""The queue of moderators, and what they do without a case."""

from django.utils import timezone
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.sessions.authentication import current_member
from board.errors import AlreadyResolvedError, NotYourCaseError
from board.models import Decision, TargetType
from board.moderation.decisions import (
    Judgement,
    judge_content,
    require_judged_content,
    require_judged_member,
    require_open_case,
    resolve_case,
)
from board.moderation.figures import get_moderation_figures
from board.moderation.listing import get_case_payload, list_cases_page
from board.moderation.serializers import (
    CaseDetailSerializer,
    CaseQuerySerializer,
    CaseSerializer,
    HideRequestSerializer,
    JudgementRequestSerializer,
    ModerationFiguresSerializer,
    SilenceSerializer,
)
from board.moderation.silencing import end_silence, set_silence
from core.api.openapi import page_serializer
from core.api.operations import extend_schema
from core.api.pagination import (
    MAX_ROW_ID,
    PageQuerySerializer,
    get_page_request,
    page_payload,
)
from core.api.permissions import IsAdministrator, IsModerator
from core.api.preconditions import VersionConflictError
from core.api.serializers import validate_body, validate_query
from core.api.views import APIView, ViewSet
from core.errors import NotFoundError

SCHEMA_TAG = "Moderation"


class CaseViewSet(ViewSet):
    permission_classes = [IsModerator]
    schema_tag = SCHEMA_TAG
    raises = {"resolve": [NotYourCaseError, AlreadyResolvedError, VersionConflictError]}
    lookup_url_kwarg = "case_id"
    lookup_value_converter = "int"

    @extend_schema(
        operation_id="listCases",
        parameters=[CaseQuerySerializer, PageQuerySerializer],
        responses=page_serializer(CaseSerializer),
    )
    def list(self, request: Request) -> Response:
        """List cases.

        Open ones, the oldest first, or decided ones, the newest first. Counts and pages
        through 10,000 cases at most.
        """
        query = validate_query(CaseQuerySerializer, request)
        page = get_page_request(request)
        count, results = list_cases_page(page, **query)
        return Response(page_payload(request, page, count, results))

    @extend_schema(operation_id="getCase", responses=CaseDetailSerializer)
    def retrieve(self, request: Request, case_id: int) -> Response:
        """Get a case.

        With its reports, the target as it is now, and the author's other cases.
        """
        member = current_member(request)
        return Response(get_case_payload(member, _checked(case_id)))

    @extend_schema(
        operation_id="resolveCase",
        request=JudgementRequestSerializer,
        responses=CaseDetailSerializer,
    )
    @action(detail=True, methods=["post"], url_path="resolve")
    def resolve(self, request: Request, case_id: int) -> Response:
        """Decide a case.

        The decision ends all its reports, and works when the target is gone. Author and
        reporters are told. A case that somebody else has decided is 409
        `ALREADY_RESOLVED` with that decision; one's own, that of staff, and an appeal
        against one's own decision are 403 `FORBIDDEN`. With `targetUpdatedAt`, a target
        whose text changed after it was read is 412 `VERSION_CONFLICT`, with the target
        as `current`.
        """
        member, now = current_member(request), timezone.now()
        # 403, 404 and 409 precede 400 for an invalid body.
        require_open_case(member, _checked(case_id))
        body = validate_body(JudgementRequestSerializer, request)
        resolve_case(member, case_id, Judgement(**body), now)
        return Response(get_case_payload(member, case_id))


class ContentJudgementView(APIView):
    """Hides or shows a post or comment."""

    schema_tag = SCHEMA_TAG

    def hide(
        self, request: Request, target_type: TargetType, target_id: int
    ) -> Response:
        # 404 and 403 precede 400 for an invalid body.
        require_judged_content(current_member(request), target_type, target_id)
        body = validate_body(HideRequestSerializer, request)
        judgement = Judgement(Decision.Action.HIDE, **body)
        return self._judge(request, target_type, target_id, judgement)

    def show(
        self, request: Request, target_type: TargetType, target_id: int
    ) -> Response:
        judgement = Judgement(Decision.Action.DISMISS)
        return self._judge(request, target_type, target_id, judgement)

    def _judge(
        self,
        request: Request,
        target_type: TargetType,
        target_id: int,
        judgement: Judgement,
    ) -> Response:
        member, now = current_member(request), timezone.now()
        judge_content(member, target_type, _checked(target_id), judgement, now)
        return Response(status=status.HTTP_204_NO_CONTENT)


class HidePostView(ContentJudgementView):
    permission_classes = [IsModerator]
    raises = {"post": [NotYourCaseError]}

    @extend_schema(
        operation_id="hidePost",
        request=HideRequestSerializer,
        responses={204: None},
    )
    def post(self, request: Request, post_id: int) -> Response:
        """Hide a post.

        Its author is told why. An open case about it is decided with it.
        """
        return self.hide(request, TargetType.POST, post_id)


class ShowPostView(ContentJudgementView):
    permission_classes = [IsModerator]
    raises = {"post": [NotYourCaseError]}

    @extend_schema(operation_id="showPost", request=None, responses={204: None})
    def post(self, request: Request, post_id: int) -> Response:
        """Show a hidden post again.

        Also one that staff have deleted, until it is removed.
        """
        return self.show(request, TargetType.POST, post_id)


class HideCommentView(ContentJudgementView):
    permission_classes = [IsModerator]
    raises = {"post": [NotYourCaseError]}

    @extend_schema(
        operation_id="hideComment",
        request=HideRequestSerializer,
        responses={204: None},
    )
    def post(self, request: Request, comment_id: int) -> Response:
        """Hide a comment.

        Its author is told why. An open case about it is decided with it.
        """
        return self.hide(request, TargetType.COMMENT, comment_id)


class ShowCommentView(ContentJudgementView):
    permission_classes = [IsModerator]
    raises = {"post": [NotYourCaseError]}

    @extend_schema(operation_id="showComment", request=None, responses={204: None})
    def post(self, request: Request, comment_id: int) -> Response:
        """Show a hidden comment again.

        Also one that staff have deleted, until it is removed.
        """
        return self.show(request, TargetType.COMMENT, comment_id)


class SilenceView(APIView):
    permission_classes = [IsModerator]
    schema_tag = SCHEMA_TAG
    raises = {"put": [NotYourCaseError], "delete": [NotYourCaseError]}

    @extend_schema(
        operation_id="silenceMember",
        request=SilenceSerializer,
        responses=SilenceSerializer,
    )
    def put(self, request: Request, member_id: int) -> Response:
        """Silence a member.

        They write nothing on the board until then; the ledger stays open to them. The
        member is told.
        """
        member, now = current_member(request), timezone.now()
        # 404 and 403 precede 400 for an invalid body.
        require_judged_member(member, _checked(member_id))
        body = validate_body(SilenceSerializer, request)
        set_silence(member, _checked(member_id), now=now, **body)
        return Response(body)

    @extend_schema(operation_id="endSilence", responses={204: None})
    def delete(self, request: Request, member_id: int) -> Response:
        """End the silence of a member.

        204 also if there is none.
        """
        member, now = current_member(request), timezone.now()
        end_silence(member, _checked(member_id), now)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ModerationFiguresView(APIView):
    permission_classes = [IsAdministrator]
    schema_tag = SCHEMA_TAG

    @extend_schema(
        operation_id="getModerationFigures", responses=ModerationFiguresSerializer
    )
    def get(self, request: Request) -> Response:
        """Get the figures of moderation.

        What waits, and what was hidden and held on each of the last 30 days.
        """
        figures = get_moderation_figures(timezone.now())
        return Response(ModerationFiguresSerializer(figures).data)


def _checked(number: int) -> int:
    if number > MAX_ROW_ID:
        raise NotFoundError
    return number
