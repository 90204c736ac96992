"""Serializers of comments (spec 5.3)."""

from rest_framework import serializers

from board.models import COMMENT_LENGTH, PostCategory
from board.serializers.posts import VOTE_VALUES, AuthorSerializer
from core.api.fields import ClosedChoiceField, StrictCharField
from core.api.serializers import Serializer


class CommentSerializer(Serializer):
    """A comment."""

    id = serializers.IntegerField(read_only=True)
    content = StrictCharField(
        max_length=COMMENT_LENGTH,
        help_text="Plain text, stored unchanged: escape it when showing it as HTML.",
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
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)


class CommentPostSerializer(Serializer):
    id = serializers.IntegerField()
    title = serializers.CharField(help_text="Title of the post.")
    category = serializers.ChoiceField(
        choices=PostCategory.choices, help_text="Category of the post."
    )


class MyCommentSerializer(CommentSerializer):
    """A comment of the caller with its post."""

    post = CommentPostSerializer(read_only=True, help_text="The post it belongs to.")
