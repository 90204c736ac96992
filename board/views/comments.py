"""Comments."""

from django.utils import timezone
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.codes.email_verification import require_verified_email
from accounts.errors import (
    ConsentRequiredError,
    EmailNotVerifiedError,
    SwitchedOffError,
)
from accounts.legal.consents import require_consents
from accounts.sessions.authentication import current_member
from accounts.switches.switches import Switch, require_switch
from board import comment_list, comments, posts, voting
from board.errors import BoardSuspendedError, NotAuthorError, SelfVoteError
from board.keyed import KeyedViewSet
from board.moderation import actions
from board.serializers.comments import (
    CommentSerializer,
    CommentTextSerializer,
    MyCommentSerializer,
)
from board.serializers.votes import VoteRequestSerializer, VoteResultSerializer
from board.standing import require_voice
from core.api.openapi import page_serializer
from core.api.operations import CreatedItem, extend_schema
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.token_scopes import BOARD
from core.api.views import ViewSet
from core.errors import RateLimitedError
from core.languages import choose_language_of

# Each character escaped.
MAX_COMMENT_BYTES = 2**16


class PostCommentViewSet(KeyedViewSet):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = "Board"
    body_limits = {"create": MAX_COMMENT_BYTES}
    raises = {
        "create": [
            EmailNotVerifiedError,
            ConsentRequiredError,
            BoardSuspendedError,
            SwitchedOffError,
            RateLimitedError,
        ]
    }

    @extend_schema(
        operation_id="listComments",
        parameters=[PageQuerySerializer],
        responses=page_serializer(CommentSerializer),
    )
    def list(self, request: Request, post_id: int) -> Response:
        """List the comments of a post.

        Up to three hot comments come first, then the others, oldest first, each with
        its replies. A comment that is gone keeps its place while it has replies.
        """
        # 404 for a missing post precedes 400 for an invalid page.
        posts.get_post(post_id)
        page = get_page_request(request)
        count, results = comment_list.list_comments_page(
            current_member(request), post_id, page, timezone.now()
        )
        return Response(page_payload(request, page, count, results))

    @extend_schema(
        operation_id="createComment",
        request=CommentSerializer,
        responses={201: CommentSerializer},
        creates=CreatedItem("comment-detail"),
    )
    def create(self, request: Request, post_id: int) -> Response:
        """Create a comment, or a reply to one.

        `parentId` is the comment at the top of a thread. Earns points, at most three
        times a day for posts and comments together. Some installations ask for a
        verified email address.
        """
        member, now = current_member(request), timezone.now()
        require_verified_email(member)
        require_consents(member, choose_language_of(request), now)
        require_voice(member, now)
        require_switch(Switch.POSTING)
        posts.get_post(post_id)
        body = validate_body(CommentSerializer, request)
        comment_id = comments.create_comment(member, post_id, now=now, **body)
        payload = comment_list.get_comment_payload(member, comment_id, now)
        return Response(payload, status=status.HTTP_201_CREATED)


class CommentViewSet(ViewSet):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = "Board"
    body_limits = {"update": MAX_COMMENT_BYTES}
    raises = {
        "update": [
            ConsentRequiredError,
            BoardSuspendedError,
            SwitchedOffError,
            NotAuthorError,
        ],
        "destroy": [NotAuthorError],
        "vote_on_comment": [BoardSuspendedError, SelfVoteError, RateLimitedError],
    }
    lookup_url_kwarg = "comment_id"
    lookup_value_converter = "int"

    @extend_schema(
        operation_id="updateComment",
        request=CommentTextSerializer,
        responses=CommentSerializer,
    )
    def update(self, request: Request, comment_id: int) -> Response:
        """Update a comment.

        Only the author may.
        """
        member, now = current_member(request), timezone.now()
        require_consents(member, choose_language_of(request), now)
        require_voice(member, now)
        require_switch(Switch.POSTING)
        # 404 and 403 precede 400 for an invalid body.
        posts.require_author(member, comments.get_comment(comment_id))
        body = validate_body(CommentTextSerializer, request)
        comments.update_comment(member, comment_id, now=now, **body)
        return Response(comment_list.get_comment_payload(member, comment_id, now))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, comment_id: int) -> Response:
        """Delete a comment.

        The author and administrators may. One with replies keeps its place, without
        text and author.
        """
        member, comment = current_member(request), comments.get_comment(comment_id)
        if comment.member_id != member.pk and member.is_administrator:
            actions.delete_comments(member, [comment_id])
        else:
            comments.delete_comment(member, comment_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="setCommentVote",
        request=VoteRequestSerializer,
        responses=VoteResultSerializer,
    )
    @action(detail=True, methods=["post"], url_path="vote")
    def vote_on_comment(self, request: Request, comment_id: int) -> Response:
        """Vote on a comment.

        `value` toggles the caller's vote, `set` sets it.
        """
        member, now = current_member(request), timezone.now()
        require_voice(member, now)
        comments.get_comment(comment_id)
        vote = voting.VoteRequest(**validate_body(VoteRequestSerializer, request))
        result = voting.vote_on_comment(member, comment_id, vote, now)
        return Response(VoteResultSerializer(result).data)


class MyCommentViewSet(ViewSet):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = "Board"

    @extend_schema(
        parameters=[PageQuerySerializer], responses=page_serializer(MyCommentSerializer)
    )
    def list(self, request: Request) -> Response:
        """List my comments.

        Newest first, each with its post.
        """
        page = get_page_request(request)
        count, results = comment_list.list_own_comments(
            current_member(request), page, timezone.now()
        )
        return Response(page_payload(request, page, count, results))
