"""Unknown paths below /api/admin."""

from typing import Any

from django.http import HttpRequest

from core.api.operations import extend_schema
from core.api.permissions import IsAdministrator
from core.api.views import APIView
from core.errors import NotFoundError


@extend_schema(exclude=True)
class AdminNotFoundView(APIView):
    """404 for administrators, 401 or 403 for other callers (spec 1.10)."""

    permission_classes = [IsAdministrator]

    # Without handlers every method ends here, after the permission check.
    def http_method_not_allowed(
        self, request: HttpRequest, *args: Any, **options: Any
    ) -> Any:
        raise NotFoundError
