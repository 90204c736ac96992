"""Wire shapes of posts, their filters and votes."""

from typing import Any

from rest_framework import serializers

from board.models import CONTENT_LENGTH, TAG_LENGTH, TITLE_LENGTH, PostCategory
from board.voting import VOTE_VALUE_BY_CHOICE
from core.api.fields import (
    StrictBooleanField,
    StrictCharField,
    TagNameField,
    UniqueListField,
)
from core.api.serializers import QuerySerializer, Serializer

MAX_TAGS = 20
"""Tags on one post."""
KEYWORD_LENGTH = 100
VOTE_CHOICES = [("up", "up"), ("down", "down")]
VOTE_STATE_CHOICES = [(name, name) for name in VOTE_VALUE_BY_CHOICE]


class AuthorSerializer(Serializer):
    """Who wrote or recommended something; `avatar` is an address or null."""

    id = serializers.IntegerField()
    display_name = serializers.CharField()
    avatar = serializers.CharField(
        allow_null=True, help_text="The profile image, else the provider's picture."
    )


class PostTagsField(UniqueListField):
    """The tags of a post."""

    def __init__(self, **options: Any) -> None:
        child = TagNameField(max_length=TAG_LENGTH)
        super().__init__(child=child, max_length=MAX_TAGS, required=False, **options)


class PostSummarySerializer(Serializer):
    """A post in a list (spec 5.1)."""

    id = serializers.IntegerField(read_only=True)
    title = StrictCharField(max_length=TITLE_LENGTH)
    category = serializers.ChoiceField(choices=PostCategory.choices)
    tags = PostTagsField(help_text="Left out of an edit, those of the post stay.")
    notice = StrictBooleanField(
        required=False, help_text="Counts only from an administrator, else ignored."
    )
    hot = serializers.BooleanField(
        read_only=True, help_text="At most a day old, with at least 50 up votes."
    )
    up_count = serializers.IntegerField(read_only=True)
    down_count = serializers.IntegerField(
        read_only=True, help_text="Clients may blind a post with 20 or more."
    )
    comment_count = serializers.IntegerField(read_only=True)
    my_vote = serializers.ChoiceField(
        choices=VOTE_CHOICES, read_only=True, allow_null=True
    )
    author = AuthorSerializer(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)


class PostSerializer(PostSummarySerializer):
    """A post with its content; what is read can be sent back as it is."""

    content = StrictCharField(
        max_length=CONTENT_LENGTH,
        help_text="HTML; only a safe part of it is kept.",
    )
    updated_at = serializers.DateTimeField(read_only=True)
    recommenders = AuthorSerializer(
        many=True, read_only=True, help_text="Who voted it up, first ones first."
    )


class PostQuerySerializer(QuerySerializer):
    """The filters of the post list; all that are given must hold."""

    category = serializers.ChoiceField(choices=PostCategory.choices, required=False)
    keyword = StrictCharField(
        max_length=KEYWORD_LENGTH,
        required=False,
        help_text="In title and text, any letter case.",
    )
    tag = StrictCharField(max_length=TAG_LENGTH, required=False)
    before = serializers.IntegerField(
        min_value=1,
        required=False,
        help_text=(
            "Instead of `page`: posts with smaller ids, newest first, without hot "
            "block and notices. `next` then carries the next `before`, `previous` is "
            "null, `count` is that of the whole list."
        ),
    )


class VoteRequestSerializer(Serializer):
    """A vote: either `value` or `set`."""

    value = serializers.ChoiceField(
        choices=VOTE_CHOICES,
        required=False,
        help_text="Toggles: the same vote again withdraws, the other one switches.",
    )
    set = serializers.ChoiceField(
        choices=VOTE_STATE_CHOICES,
        required=False,
        help_text="What the vote shall be; a retry cannot flip it.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError("Send either value or set.")
        return attrs


class VoteResultSerializer(Serializer):
    """The counters after a vote, and one's own."""

    up_count = serializers.IntegerField()
    down_count = serializers.IntegerField()
    my_vote = serializers.ChoiceField(choices=VOTE_CHOICES, allow_null=True)
