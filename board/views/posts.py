"""Posts and notices."""

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
from board import post_list, posts, voting
from board.errors import BoardSuspendedError, NotAuthorError, SelfVoteError
from board.keyed import KeyedViewSet
from board.moderation import actions
from board.post_list import PostFilter
from board.serializers.posts import (
    AuthorSerializer,
    PostQuerySerializer,
    PostSerializer,
    PostSummarySerializer,
)
from board.serializers.votes import VoteRequestSerializer, VoteResultSerializer
from board.standing import require_voice
from core.api.openapi import page_serializer
from core.api.operations import extend_schema
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    keyset_page_payload,
    page_payload,
)
from core.api.permissions import IsAdministrator, IsMember
from core.api.serializers import validate_body, validate_query
from core.api.token_scopes import BOARD
from core.api.views import ViewSet
from core.errors import DuplicateError, RateLimitedError
from core.languages import choose_language_of

# Each character escaped.
MAX_POST_BYTES = 5 * 2**18


class PostViewSet(KeyedViewSet):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = "Board"
    body_limits = {"create": MAX_POST_BYTES, "update": MAX_POST_BYTES}
    raises = {
        "create": [
            EmailNotVerifiedError,
            ConsentRequiredError,
            BoardSuspendedError,
            SwitchedOffError,
            DuplicateError,
            RateLimitedError,
        ],
        "update": [
            ConsentRequiredError,
            BoardSuspendedError,
            SwitchedOffError,
            NotAuthorError,
        ],
        "destroy": [NotAuthorError],
        "vote_on_post": [BoardSuspendedError, SelfVoteError, RateLimitedError],
    }
    lookup_url_kwarg = "post_id"
    lookup_value_converter = "int"

    @extend_schema(
        parameters=[PostQuerySerializer, PageQuerySerializer],
        responses=page_serializer(PostSummarySerializer),
    )
    def list(self, request: Request) -> Response:
        """List posts.

        Hot posts come first (at most three, most up votes first), then notices, then
        the other posts, newest first. No post is listed twice.
        """
        member, now = current_member(request), timezone.now()
        query = validate_query(PostQuerySerializer, request)
        page = get_page_request(request)
        before = query.pop("before", None)
        filters = PostFilter(**query)
        if before is None:
            count, results = post_list.list_posts_page(member, filters, page, now)
            return Response(page_payload(request, page, count, results))
        count, results, next_before = post_list.list_posts_before(
            member, filters, before, page.size, now
        )
        return Response(
            keyset_page_payload(request, "before", next_before, count, results)
        )

    @extend_schema(request=PostSerializer, responses={201: PostSerializer})
    def create(self, request: Request) -> Response:
        """Create a post.

        Earns points, at most three times a day for posts and comments together. Some
        installations ask for a verified email address, or hold posts of newcomers with
        a link or picture: `state` is `HELD` until staff have seen it.
        """
        member, now = current_member(request), timezone.now()
        require_verified_email(member)
        require_consents(member, choose_language_of(request), now)
        require_voice(member, now)
        require_switch(Switch.POSTING)
        data = posts.PostData(**validate_body(PostSerializer, request))
        post_id = posts.create_post(member, data, now)
        payload = post_list.get_post_payload(member, post_id, now)
        return Response(payload, status=status.HTTP_201_CREATED)

    @extend_schema(responses=PostSerializer)
    def retrieve(self, request: Request, post_id: int) -> Response:
        """Get a post.

        With its content and the members who voted it up.
        """
        member = current_member(request)
        return Response(post_list.get_post_payload(member, post_id, timezone.now()))

    @extend_schema(request=PostSerializer, responses=PostSerializer)
    def update(self, request: Request, post_id: int) -> Response:
        """Replace a post.

        Only the author may. Without `tags`, the post keeps its tags.
        """
        return self._update(request, post_id, partial=False)

    @extend_schema(request=PostSerializer, responses=PostSerializer)
    def partial_update(self, request: Request, post_id: int) -> Response:
        """Update a post.

        Only the author may. Fields that are left out do not change.
        """
        return self._update(request, post_id, partial=True)

    def _update(self, request: Request, post_id: int, *, partial: bool) -> Response:
        member, now = current_member(request), timezone.now()
        require_consents(member, choose_language_of(request), now)
        require_voice(member, now)
        require_switch(Switch.POSTING)
        # 404 and 403 precede 400 for an invalid body.
        posts.require_author(member, posts.get_post(post_id, member))
        changes = validate_body(PostSerializer, request, partial=partial)
        if not partial:
            changes.setdefault("notice", False)
        posts.update_post(member, post_id, changes, now)
        return Response(post_list.get_post_payload(member, post_id, now))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, post_id: int) -> Response:
        """Delete a post.

        The author and administrators may.
        """
        member, now = current_member(request), timezone.now()
        post = posts.get_post(post_id, member)
        if post.member_id != member.pk and member.is_administrator:
            actions.delete_posts(member, [post_id], now)
        else:
            posts.delete_post(member, post_id, now)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="setPostVote",
        request=VoteRequestSerializer,
        responses=VoteResultSerializer,
    )
    @action(detail=True, methods=["post"], url_path="vote")
    def vote_on_post(self, request: Request, post_id: int) -> Response:
        """Vote on a post.

        `value` toggles the caller's vote, `set` sets it.
        """
        member, now = current_member(request), timezone.now()
        require_voice(member, now)
        posts.get_post(post_id)
        vote = voting.VoteRequest(**validate_body(VoteRequestSerializer, request))
        result = voting.vote_on_post(member, post_id, vote, now)
        return Response(VoteResultSerializer(result).data)

    @extend_schema(responses=AuthorSerializer(many=True))
    @action(detail=True, url_path="recommenders")
    def list_recommenders(self, request: Request, post_id: int) -> Response:
        """List the recommenders of a post.

        The members who voted it up, in the order of their votes, without those whom
        the caller has blocked.
        """
        posts.get_post(post_id)
        reader = current_member(request)
        return Response(post_list.list_recommenders(reader, post_id))


class MyPostViewSet(ViewSet):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = "Board"

    @extend_schema(
        parameters=[PageQuerySerializer],
        responses=page_serializer(PostSummarySerializer),
    )
    def list(self, request: Request) -> Response:
        """List my posts.

        Newest first.
        """
        page = get_page_request(request)
        count, results = post_list.list_own_posts(
            current_member(request), page, timezone.now()
        )
        return Response(page_payload(request, page, count, results))


class NoticeViewSet(ViewSet):
    permission_classes = [IsAdministrator]
    schema_tag = "Board"
    lookup_url_kwarg = "post_id"
    lookup_value_converter = "int"

    @extend_schema(request=None, responses=PostSerializer)
    @action(detail=True, methods=["post"], url_path="notice")
    def publish_notice(self, request: Request, post_id: int) -> Response:
        """Publish a post as a notice.

        Notices stand above the other posts of the list. Only administrators may.
        """
        member = current_member(request)
        actions.set_notice(member, post_id, notice=True)
        return Response(post_list.get_post_payload(member, post_id, timezone.now()))

    @extend_schema(request=None, responses=PostSerializer)
    @action(detail=True, methods=["post"], url_path="unnotice")
    def withdraw_notice(self, request: Request, post_id: int) -> Response:
        """Withdraw a notice.

        The post stays as a regular post. Only administrators may.
        """
        member = current_member(request)
        actions.set_notice(member, post_id, notice=False)
        return Response(post_list.get_post_payload(member, post_id, timezone.now()))
