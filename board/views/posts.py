"""Posts: the list, one by one, the caller's own, and notices."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import current_member
from board import notices, post_list, posts
from board.post_list import PostFilter
from board.serializers.posts import (
    PostQuerySerializer,
    PostSerializer,
    PostSummarySerializer,
)
from core.api.openapi import page_serializer
from core.api.pagination import (
    PageQuerySerializer,
    get_page_request,
    keyset_page_payload,
    page_payload,
)
from core.api.permissions import IsAdministrator, IsMember
from core.api.serializers import validate_body, validate_query


class PostViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(
        parameters=[PostQuerySerializer, PageQuerySerializer],
        responses=page_serializer(PostSummarySerializer),
    )
    def list(self, request: Request) -> Response:
        """Hot posts, then notices, then the rest, newest first.

        At most three hot posts stand at the top, most up votes first, and nowhere
        else.
        """
        query, page = (
            validate_query(PostQuerySerializer, request),
            get_page_request(request),
        )
        before = query.pop("before", None)
        reader, wanted, now = (
            current_member(request),
            PostFilter(**query),
            timezone.now(),
        )
        if before is None:
            count, posts = post_list.list_posts_page(reader, wanted, page, now)
            return Response(page_payload(request, page, count, posts))
        count, posts, following = post_list.list_posts_before(
            reader, wanted, before, page.size, now
        )
        return Response(keyset_page_payload(request, "before", following, count, posts))

    @extend_schema(request=PostSerializer, responses={201: PostSerializer})
    def create(self, request: Request) -> Response:
        """Write a post; it earns points, three times a day."""
        body, now = validate_body(PostSerializer, request), timezone.now()
        post_id = posts.create_post(
            current_member(request), posts.PostData(**body), now
        )
        post = post_list.get_post_payload(current_member(request), post_id, now)
        return Response(post, status=status.HTTP_201_CREATED)

    @extend_schema(responses=PostSerializer)
    def retrieve(self, request: Request, post_id: int) -> Response:
        return _post_response(request, post_id)

    @extend_schema(request=PostSerializer, responses=PostSerializer)
    def update(self, request: Request, post_id: int) -> Response:
        """Edit one's own post; tags that are left out stay."""
        return self._update(request, post_id, partial=False)

    @extend_schema(request=PostSerializer, responses=PostSerializer)
    def partial_update(self, request: Request, post_id: int) -> Response:
        """Edit a part of one's own post."""
        return self._update(request, post_id, partial=True)

    def _update(self, request: Request, post_id: int, *, partial: bool) -> Response:
        posts.require_author(current_member(request), posts.get_post(post_id))
        body = validate_body(PostSerializer, request, partial=partial)
        if not partial:
            body.setdefault("notice", False)
        posts.update_post(current_member(request), post_id, body, timezone.now())
        return _post_response(request, post_id)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, post_id: int) -> Response:
        """Delete a post; its author or an administrator."""
        posts.delete_post(current_member(request), post_id, timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


class MyPostViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(
        parameters=[PageQuerySerializer],
        responses=page_serializer(PostSummarySerializer),
    )
    def list(self, request: Request) -> Response:
        """The caller's own posts, newest first."""
        page = get_page_request(request)
        count, posts = post_list.list_own_posts(
            current_member(request), page, timezone.now()
        )
        return Response(page_payload(request, page, count, posts))


class NoticeViewSet(ViewSet):
    permission_classes = [IsAdministrator]

    @extend_schema(request=None, responses=PostSerializer)
    def notice(self, request: Request, post_id: int) -> Response:
        """Make a post a notice."""
        notices.set_notice(current_member(request), post_id, notice=True)
        return _post_response(request, post_id)

    @extend_schema(request=None, responses=PostSerializer)
    def unnotice(self, request: Request, post_id: int) -> Response:
        """Make a notice a post like others."""
        notices.set_notice(current_member(request), post_id, notice=False)
        return _post_response(request, post_id)


def _post_response(request: Request, post_id: int) -> Response:
    return Response(
        post_list.get_post_payload(current_member(request), post_id, timezone.now())
    )
