"""Posts: the list, one by one, the caller's own, and notices."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import member_of
from board import notices, post_list, posts
from board.post_list import PostFilter
from board.serializers.posts import PostBody, PostQuery, PostSummaryBody
from core.api.fields import read_body, read_query
from core.api.openapi import page_of
from core.api.pagination import PageQuery, key_body, page_body, read_page
from core.api.permissions import IsAdministrator, IsMember


class PostViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(
        parameters=[PostQuery, PageQuery], responses=page_of(PostSummaryBody)
    )
    def list(self, request: Request) -> Response:
        """Hot posts, then notices, then the rest, newest first.

        At most three hot posts stand at the top, most up votes first, and nowhere
        else.
        """
        query, page = read_query(PostQuery, request), read_page(request)
        before = query.pop("before", None)
        reader, wanted, now = member_of(request), PostFilter(**query), timezone.now()
        if before is None:
            count, posts = post_list.read_page_of_posts(reader, wanted, page, now)
            return Response(page_body(request, page, count, posts))
        count, posts, following = post_list.read_posts_before(
            reader, wanted, before, page.size, now
        )
        return Response(key_body(request, "before", following, count, posts))

    @extend_schema(request=PostBody, responses={201: PostBody})
    def create(self, request: Request) -> Response:
        """Write a post; it earns points, three times a day."""
        body, now = read_body(PostBody, request), timezone.now()
        post_id = posts.create_post(member_of(request), posts.Draft(**body), now)
        post = post_list.read_post(member_of(request), post_id, now)
        return Response(post, status=status.HTTP_201_CREATED)

    @extend_schema(responses=PostBody)
    def retrieve(self, request: Request, post_id: int) -> Response:
        return _answer_post(request, post_id)

    @extend_schema(request=PostBody, responses=PostBody)
    def update(self, request: Request, post_id: int) -> Response:
        """Edit one's own post; tags that are left out stay."""
        return self._change(request, post_id, partial=False)

    @extend_schema(request=PostBody, responses=PostBody)
    def partial_update(self, request: Request, post_id: int) -> Response:
        """Edit a part of one's own post."""
        return self._change(request, post_id, partial=True)

    def _change(self, request: Request, post_id: int, *, partial: bool) -> Response:
        posts.require_author(member_of(request), posts.find_post(post_id))
        body = read_body(PostBody, request, partial=partial)
        if not partial:
            body.setdefault("notice", False)
        posts.change_post(member_of(request), post_id, body, timezone.now())
        return _answer_post(request, post_id)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, post_id: int) -> Response:
        """Delete a post; its author or an administrator."""
        posts.delete_post(member_of(request), post_id, timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


class MyPostViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(parameters=[PageQuery], responses=page_of(PostSummaryBody))
    def list(self, request: Request) -> Response:
        """The caller's own posts, newest first."""
        page = read_page(request)
        count, posts = post_list.read_own_posts(
            member_of(request), page, timezone.now()
        )
        return Response(page_body(request, page, count, posts))


class NoticeViewSet(ViewSet):
    permission_classes = [IsAdministrator]

    @extend_schema(request=None, responses=PostBody)
    def notice(self, request: Request, post_id: int) -> Response:
        """Make a post a notice."""
        notices.set_notice(member_of(request), post_id, notice=True)
        return _answer_post(request, post_id)

    @extend_schema(request=None, responses=PostBody)
    def unnotice(self, request: Request, post_id: int) -> Response:
        """Make a notice a post like others."""
        notices.set_notice(member_of(request), post_id, notice=False)
        return _answer_post(request, post_id)


def _answer_post(request: Request, post_id: int) -> Response:
    return Response(post_list.read_post(member_of(request), post_id, timezone.now()))
