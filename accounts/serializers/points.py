"""Serializers of points."""

from rest_framework import serializers

from accounts.models import PointHistory
from core.api.openapi import page_serializer
from core.api.serializers import Serializer


class PointAwardSerializer(Serializer):
    id = serializers.IntegerField()
    points = serializers.IntegerField()
    reason = serializers.ChoiceField(choices=PointHistory.Reason.choices)
    created_at = serializers.DateTimeField()


class PointsSerializer(Serializer):
    points = serializers.IntegerField()
    points_per_award = serializers.IntegerField()
    daily_award_limit = serializers.IntegerField()
    awards_today = serializers.IntegerField()
    history = page_serializer(PointAwardSerializer)()
