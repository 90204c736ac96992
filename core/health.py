"""Health checks."""

from django.db import DatabaseError
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from core import object_store, redis_client
from core.api.operations import extend_schema
from core.api.permissions import AllowAny
from core.api.serializers import Serializer
from core.api.views import APIView
from core.db.postgresql import liveness
from core.db.standby import count_waiting_commits
from core.errors import RETRY_AFTER_SECONDS

UP, DOWN = "up", "down"
WAITING = "waiting"
HEALTH_STATES = ["ok", "degraded", "unavailable"]
DEPENDENCY_STATES = [UP, DOWN]
DATABASE_TIMEOUT_SECONDS = 2.0


class HealthSerializer(Serializer):
    conditional_fields = frozenset({"imageStore", "writes"})

    status = serializers.ChoiceField(
        choices=HEALTH_STATES,
        help_text=(
            "`ok`; `degraded` without the fast store or the store of images, or while "
            "writes wait; `unavailable` without the database."
        ),
    )
    database = serializers.ChoiceField(
        choices=DEPENDENCY_STATES, help_text="Whether the database answers."
    )
    fast_store = serializers.ChoiceField(
        choices=DEPENDENCY_STATES,
        help_text="Whether the fast store answers; requests are served without it.",
    )
    image_store = serializers.ChoiceField(
        choices=DEPENDENCY_STATES,
        required=False,
        help_text=(
            "Whether the store of images answers; only where images lie outside of the "
            "database."
        ),
    )
    writes = serializers.ChoiceField(
        choices=[WAITING],
        required=False,
        help_text="Only while commits wait for a standby of the database.",
    )


class LivenessSerializer(Serializer):
    status = serializers.CharField(help_text="Always `ok`.")


class HealthView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses={200: HealthSerializer, 503: HealthSerializer})
    def get(self, request: Request) -> Response:
        """Readiness check.

        Whether the database, the fast store and the store of images are reachable, and
        writes are committed; 503 without database.
        """
        waiting = read_waiting_commits()
        has_database, has_fast_store = waiting is not None, redis_client.is_reachable()
        has_image_store = (
            not object_store.is_configured() or object_store.is_reachable()
        )
        if not has_database:
            overall = "unavailable"
        elif waiting or not has_fast_store or not has_image_store:
            overall = "degraded"
        else:
            overall = "ok"
        payload = {
            "status": overall,
            "database": UP if has_database else DOWN,
            "fastStore": UP if has_fast_store else DOWN,
        }
        if object_store.is_configured():
            payload["imageStore"] = UP if has_image_store else DOWN
        if waiting:
            payload["writes"] = WAITING
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


def read_waiting_commits() -> int | None:
    """Return the number of commits that wait for a standby; None without database."""
    try:
        with liveness.database_timeout(DATABASE_TIMEOUT_SECONDS):
            return count_waiting_commits()
    except DatabaseError:
        return None
