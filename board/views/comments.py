"""Comments: below a post, one by one, and the caller's own."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import current_member
from board import comment_list, comments, posts
from board.serializers.comments import CommentSerializer, MyCommentSerializer
from core.api.openapi import page_serializer
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsMember
from core.api.serializers import validate_body


class CommentViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(
        parameters=[PageQuerySerializer], responses=page_serializer(CommentSerializer)
    )
    def list(self, request: Request, post_id: int) -> Response:
        """Hot comments, then the others, oldest first."""
        posts.get_post(post_id)
        page, now = get_page_request(request), timezone.now()
        count, rows = comment_list.list_comments_page(
            current_member(request), post_id, page, now
        )
        return Response(page_payload(request, page, count, rows))

    @extend_schema(request=CommentSerializer, responses={201: CommentSerializer})
    def create(self, request: Request, post_id: int) -> Response:
        """Write a comment; it earns points, three times a day."""
        posts.get_post(post_id)
        body, now = validate_body(CommentSerializer, request), timezone.now()
        comment_id = comments.create_comment(
            current_member(request), post_id, now=now, **body
        )
        comment = comment_list.get_comment_payload(
            current_member(request), comment_id, now
        )
        return Response(comment, status=status.HTTP_201_CREATED)

    @extend_schema(request=CommentSerializer, responses=CommentSerializer)
    def update(self, request: Request, comment_id: int) -> Response:
        """Edit one's own comment."""
        member, now = current_member(request), timezone.now()
        posts.require_author(member, comments.get_comment(comment_id))
        body = validate_body(CommentSerializer, request)
        comments.update_comment(member, comment_id, now=now, **body)
        return Response(comment_list.get_comment_payload(member, comment_id, now))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, comment_id: int) -> Response:
        """Delete a comment; its author or an administrator."""
        comments.delete_comment(current_member(request), comment_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class MyCommentViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(
        parameters=[PageQuerySerializer], responses=page_serializer(MyCommentSerializer)
    )
    def list(self, request: Request) -> Response:
        """The caller's own comments, newest first, each with its post."""
        page = get_page_request(request)
        count, rows = comment_list.list_own_comments(
            current_member(request), page, timezone.now()
        )
        return Response(page_payload(request, page, count, rows))
