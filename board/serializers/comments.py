"""Wire shapes of comments."""

from rest_framework import serializers

from board.models import COMMENT_LENGTH, Category
from board.serializers.posts import VOTES, AuthorBody
from core.api.fields import Serializer, Text


class CommentBody(Serializer):
    """A comment (contract, section 4)."""

    id = serializers.IntegerField(read_only=True)
    content = Text(
        max_length=COMMENT_LENGTH,
        help_text="Plain text, kept as it is: whoever shows it as HTML escapes it.",
    )
    up_count = serializers.IntegerField(read_only=True)
    down_count = serializers.IntegerField(read_only=True)
    my_vote = serializers.ChoiceField(choices=VOTES, read_only=True, allow_null=True)
    hot = serializers.BooleanField(
        read_only=True, help_text="At most a day old, with at least 50 up votes."
    )
    author = AuthorBody(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)


class PostOfCommentBody(Serializer):
    id = serializers.IntegerField()
    title = serializers.CharField()
    category = serializers.ChoiceField(choices=Category.choices)


class MyCommentBody(CommentBody):
    """A comment of the caller with its post."""

    post = PostOfCommentBody(read_only=True)
