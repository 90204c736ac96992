"""Serializers of posts (spec 5.1)."""

from rest_framework import serializers

from board.models import CONTENT_LENGTH, TAG_LENGTH, TITLE_LENGTH, PostCategory
from core.api.field_texts import FieldText
from core.api.fields import (
    ClosedChoiceField,
    OpenTextField,
    StrictBooleanField,
    StrictCharField,
    TagNameField,
    UniqueListField,
    UriReferenceField,
)
from core.api.serializers import QuerySerializer, Serializer

MAX_TAGS = 20
KEYWORD_LENGTH = 100
VOTE_VALUES = ["up", "down"]


class AuthorSerializer(Serializer):
    """The author of a post or comment, or a recommender."""

    id = serializers.IntegerField(help_text="Id of the member.")
    display_name = serializers.CharField(help_text="The name that other members see.")
    avatar = UriReferenceField(
        allow_null=True,
        help_text="URL of the profile image, or of the image at the identity provider.",
    )
    staff = serializers.BooleanField(
        help_text="Whether the member is an administrator or moderator."
    )


class PostSummarySerializer(Serializer):
    """A post in a list."""

    id = serializers.IntegerField(read_only=True)
    title = StrictCharField(
        max_length=TITLE_LENGTH,
        help_text=FieldText(
            "The title, as plain text.", requests=f"1 to {TITLE_LENGTH} characters."
        ),
    )
    category = serializers.ChoiceField(
        choices=PostCategory.choices,
        help_text="The part of the board that the post is in.",
    )
    tags = UniqueListField(
        child=TagNameField(max_length=TAG_LENGTH),
        max_length=MAX_TAGS,
        required=False,
        help_text=FieldText(
            "The tags, in their order.",
            requests="Left out of an update, they do not change.",
        ),
    )
    notice = StrictBooleanField(
        required=False,
        help_text=FieldText(
            "Whether the post stands above the others.",
            requests="Ignored unless an administrator sends it.",
        ),
    )
    hot = serializers.BooleanField(
        read_only=True, help_text="At most a day old with at least 50 up votes."
    )
    up_count = serializers.IntegerField(read_only=True, help_text="Number of up votes.")
    down_count = serializers.IntegerField(
        read_only=True,
        help_text="Clients may hide the content of a post with 20 or more.",
    )
    comment_count = serializers.IntegerField(
        read_only=True, help_text="Number of comments."
    )
    my_vote = ClosedChoiceField(
        choices=VOTE_VALUES,
        read_only=True,
        allow_null=True,
        help_text="The caller's vote; null without one.",
    )
    author = AuthorSerializer(read_only=True, help_text="The member who wrote it.")
    blocked = serializers.BooleanField(
        read_only=True,
        help_text="True if the caller has blocked the author: the texts are empty.",
    )
    state = OpenTextField(
        known_values=["SHOWN", "HELD"],
        read_only=True,
        help_text="`HELD` is seen by its author alone until staff have seen it.",
    )
    created_at = serializers.DateTimeField(read_only=True)


class PostSerializer(PostSummarySerializer):
    """A post with its content; a response is a valid request body."""

    content = StrictCharField(
        max_length=CONTENT_LENGTH,
        help_text="HTML; unsafe tags and attributes are removed.",
    )
    updated_at = serializers.DateTimeField(read_only=True)
    recommenders = AuthorSerializer(
        many=True,
        read_only=True,
        help_text="Members who voted it up, in the order of their votes.",
    )


class PostQuerySerializer(QuerySerializer):
    """Filters of the post list, combined with AND."""

    category = serializers.ChoiceField(
        choices=PostCategory.choices,
        required=False,
        help_text="Only posts of this category.",
    )
    keyword = StrictCharField(
        max_length=KEYWORD_LENGTH,
        required=False,
        help_text="Searched in title and text, ignoring case.",
    )
    tag = StrictCharField(
        max_length=TAG_LENGTH, required=False, help_text="Only posts with this tag."
    )
    before = serializers.IntegerField(
        min_value=1,
        required=False,
        help_text=(
            "Replaces `page`: lists posts with smaller ids, newest first, without hot "
            "posts and notices. `next` is the URL with the next `before`, `previous` "
            "is null, `count` is that of the whole list."
        ),
    )
