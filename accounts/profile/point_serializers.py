"""Serializers of points."""

from rest_framework import serializers

from accounts.models import PointHistory
from core.api.openapi import page_serializer
from core.api.serializers import Serializer


class PointAwardSerializer(Serializer):
    id = serializers.IntegerField()
    points = serializers.IntegerField(help_text="Points of this award.")
    reason = serializers.ChoiceField(
        choices=PointHistory.Reason.choices,
        help_text="What the points were awarded for.",
    )
    created_at = serializers.DateTimeField()


class PointsSerializer(Serializer):
    points = serializers.IntegerField(help_text="All points of the member.")
    points_per_award = serializers.IntegerField(
        help_text="Points for a post or comment."
    )
    daily_award_limit = serializers.IntegerField(
        help_text="Awards a day, posts and comments together."
    )
    awards_today = serializers.IntegerField(
        help_text="Awards since midnight, in the home time zone."
    )
    history = page_serializer(PointAwardSerializer)(
        help_text="The awards, newest first."
    )
