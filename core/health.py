"""Health checks."""

from django.db import DatabaseError, connection
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from core import redis_client
from core.api.operations import extend_schema
from core.api.permissions import AllowAny
from core.api.serializers import Serializer
from core.api.views import APIView
from core.db.postgresql import liveness
from core.errors import RETRY_AFTER_SECONDS

UP, DOWN = "up", "down"
HEALTH_STATES = ["ok", "degraded", "unavailable"]
DEPENDENCY_STATES = [UP, DOWN]
DATABASE_TIMEOUT_SECONDS = 2.0


class HealthSerializer(Serializer):
    status = serializers.ChoiceField(
        choices=HEALTH_STATES,
        help_text=(
            "`ok`; `degraded` without the fast store; `unavailable` without the "
            "database."
        ),
    )
    database = serializers.ChoiceField(
        choices=DEPENDENCY_STATES, help_text="Whether the database answers."
    )
    fast_store = serializers.ChoiceField(
        choices=DEPENDENCY_STATES,
        help_text="Whether the fast store answers; requests are served without it.",
    )


class LivenessSerializer(Serializer):
    status = serializers.CharField(help_text="Always `ok`.")


class HealthView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses={200: HealthSerializer, 503: HealthSerializer})
    def get(self, request: Request) -> Response:
        """Readiness check.

        Whether the database and the fast store are reachable; 503 without database.
        """
        has_database = is_database_reachable()
        has_fast_store = redis_client.is_reachable()
        if not has_database:
            overall = "unavailable"
        else:
            overall = "ok" if has_fast_store else "degraded"
        payload = {
            "status": overall,
            "database": UP if has_database else DOWN,
            "fastStore": UP if has_fast_store else DOWN,
        }
        if has_database:
            return Response(payload)
        return Response(
            payload,
            status.HTTP_503_SERVICE_UNAVAILABLE,
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )


class LivenessView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses=LivenessSerializer)
    def get(self, request: Request) -> Response:
        """Liveness check.

        200 while the process responds; the stores are not checked.
        """
        return Response({"status": "ok"})


def is_database_reachable() -> bool:
    try:
        with (
            liveness.database_timeout(DATABASE_TIMEOUT_SECONDS),
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True
