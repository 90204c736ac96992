"""Serializers of votes."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from board.serializers.posts import VOTE_VALUES
from board.voting import VOTE_VALUE_BY_CHOICE
from core.api.fields import ClosedChoiceField
from core.api.serializers import Serializer


class VoteRequestSerializer(Serializer):
    """A vote: either `value` or `set`."""

    is_body_required = True

    value = serializers.ChoiceField(
        choices=VOTE_VALUES,
        required=False,
        help_text=(
            "Toggles: the same vote again withdraws it, the other one switches it."
        ),
    )
    set = serializers.ChoiceField(
        source="state",
        choices=list(VOTE_VALUE_BY_CHOICE),
        required=False,
        help_text="The vote after the request, also if the request is repeated.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError(gettext("Send either value or set."))
        return attrs


class VoteResultSerializer(Serializer):
    """The counters after a vote, and the caller's vote."""

    up_count = serializers.IntegerField(help_text="Number of up votes, with this one.")
    down_count = serializers.IntegerField(
        help_text="Number of down votes, with this one."
    )
    my_vote = ClosedChoiceField(
        choices=VOTE_VALUES,
        allow_null=True,
        help_text="The caller's vote after the request; null without one.",
    )
