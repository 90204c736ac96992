"""The health checks: is the process alive, can requests be served."""

from django.db import DatabaseError, connection
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core import redis_client
from core.api.exception_handler import RETRY_AFTER_SECONDS
from core.api.permissions import AllowAny
from core.api.serializers import Serializer
from core.db.postgresql import liveness

UP, DOWN = "up", "down"
HEALTH_STATES = ["ok", "degraded", "unavailable"]
DEPENDENCY_STATES = [UP, DOWN]
DATABASE_TIMEOUT_SECONDS = 2.0
"""How long the database may take before it counts as down."""


class HealthSerializer(Serializer):
    status = serializers.ChoiceField(choices=HEALTH_STATES)
    database = serializers.ChoiceField(choices=DEPENDENCY_STATES)
    fast_store = serializers.ChoiceField(choices=DEPENDENCY_STATES)


class LivenessSerializer(Serializer):
    status = serializers.CharField()


class HealthView(APIView):
    """200 while requests can be served, 503 without the database."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="health", responses={200: HealthSerializer, 503: HealthSerializer}
    )
    def get(self, request: Request) -> Response:
        database, fast_store = is_database_reachable(), redis_client.is_reachable()
        body = {
            "status": _overall_status(database=database, fast_store=fast_store),
            "database": UP if database else DOWN,
            "fastStore": UP if fast_store else DOWN,
        }
        if database:
            return Response(body)
        retry = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        return Response(body, status.HTTP_503_SERVICE_UNAVAILABLE, headers=retry)


class LivenessView(APIView):
    """200 while the process answers at all."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(operation_id="health_live", responses=LivenessSerializer)
    def get(self, request: Request) -> Response:
        return Response({"status": "ok"})


def is_database_reachable() -> bool:
    """Whether it answers in time; one that is stopped or swapped out does not."""
    try:
        with (
            liveness.database_timeout(DATABASE_TIMEOUT_SECONDS),
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _overall_status(*, database: bool, fast_store: bool) -> str:
    if not database:
        return "unavailable"
    return "ok" if fast_store else "degraded"
