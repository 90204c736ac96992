"""Comments: below a post, one by one, and the caller's own."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import member_of
from board import comments, posts
from board.serializers.comments import CommentBody, MyCommentBody
from core.api.fields import read_body
from core.api.openapi import page_of
from core.api.pagination import PageQuery, page_body, read_page
from core.api.permissions import IsMember


class CommentViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(parameters=[PageQuery], responses=page_of(CommentBody))
    def list(self, request: Request, post_id: int) -> Response:
        """Hot comments, then the others, oldest first."""
        posts.find_post(post_id)
        page, now = read_page(request), timezone.now()
        count, rows = comments.read_page_of_comments(
            member_of(request), post_id, page, now
        )
        return Response(page_body(request, page, count, rows))

    @extend_schema(request=CommentBody, responses={201: CommentBody})
    def create(self, request: Request, post_id: int) -> Response:
        """Write a comment; it earns points, three times a day."""
        posts.find_post(post_id)
        body, now = read_body(CommentBody, request), timezone.now()
        comment_id = posts.create_comment(member_of(request), post_id, now=now, **body)
        comment = comments.read_comment(member_of(request), comment_id, now)
        return Response(comment, status=status.HTTP_201_CREATED)

    @extend_schema(request=CommentBody, responses=CommentBody)
    def update(self, request: Request, comment_id: int) -> Response:
        """Edit one's own comment."""
        member, now = member_of(request), timezone.now()
        posts.require_author(member, posts.find_comment(comment_id))
        body = read_body(CommentBody, request)
        posts.change_comment(member, comment_id, now=now, **body)
        return Response(comments.read_comment(member, comment_id, now))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, comment_id: int) -> Response:
        """Delete a comment; its author or an administrator."""
        posts.delete_comment(member_of(request), comment_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MyCommentViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(parameters=[PageQuery], responses=page_of(MyCommentBody))
    def list(self, request: Request) -> Response:
        """The caller's own comments, newest first, each with its post."""
        page = read_page(request)
        count, rows = comments.read_own_comments(
            member_of(request), page, timezone.now()
        )
        return Response(page_body(request, page, count, rows))
