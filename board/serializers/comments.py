"""Serializers of comments (spec 5.3)."""

from rest_framework import serializers

from board.locking import MAX_ID
from board.models import COMMENT_LENGTH, PostCategory
from board.serializers.posts import VOTE_VALUES, AuthorSerializer
from core.api.fields import ClosedChoiceField, StrictCharField, StrictIntegerField
from core.api.serializers import Serializer


class AnsweredCommentSerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the comment that is answered.")
    author = AuthorSerializer(help_text="Who wrote it; empty once it is gone.")


class CommentSerializer(Serializer):
    """A comment."""

    id = serializers.IntegerField(read_only=True)
    content = StrictCharField(
        max_length=COMMENT_LENGTH,
        help_text="Plain text, stored unchanged: escape it when showing it as HTML.",
    )
    parent_id = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_ID,
        help_text="The comment at the top of the thread; null for itself.",
    )
    reply_to_id = StrictIntegerField(
        required=False,
        write_only=True,
        min_value=1,
        max_value=MAX_ID,
        help_text="The reply of that thread that is answered.",
    )
    reply_to = AnsweredCommentSerializer(
        read_only=True,
        allow_null=True,
        help_text="The comment that is answered; null for the top of a thread.",
    )
    up_count = serializers.IntegerField(read_only=True, help_text="Number of up votes.")
    down_count = serializers.IntegerField(
        read_only=True, help_text="Number of down votes."
    )
    my_vote = ClosedChoiceField(
        choices=VOTE_VALUES,
        read_only=True,
        allow_null=True,
        help_text="The caller's vote; null without one.",
    )
    hot = serializers.BooleanField(
        read_only=True, help_text="At most a day old with at least 50 up votes."
    )
    author = AuthorSerializer(read_only=True, help_text="The member who wrote it.")
    blocked = serializers.BooleanField(
        read_only=True,
        help_text="True if the caller has blocked the author: the texts are empty.",
    )
    deleted = serializers.BooleanField(
        read_only=True,
        help_text="True if only its place is left, for its replies: text and author "
        "are empty, the author's id is 0.",
    )
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)


class CommentTextSerializer(Serializer):
    """The part of a comment that its author changes."""

    answer = CommentSerializer

    content = StrictCharField(
        max_length=COMMENT_LENGTH,
        help_text="Plain text, stored unchanged: escape it when showing it as HTML.",
    )


class CommentPostSerializer(Serializer):
    id = serializers.IntegerField()
    title = serializers.CharField(help_text="Title of the post.")
    category = serializers.ChoiceField(
        choices=PostCategory.choices, help_text="Category of the post."
    )


class MyCommentSerializer(CommentSerializer):
    """A comment of the caller with its post."""

    post = CommentPostSerializer(read_only=True, help_text="The post it belongs to.")
