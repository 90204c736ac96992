"""The switches of the service."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import member_of
from accounts.signup_setting import is_signup_enabled, set_signup_enabled
from administration.serializers import (
    SignupSwitchBody,
)
from core.api.fields import read_body
from core.api.permissions import IsAdministrator


class SignupSwitchView(APIView):
    permission_classes = [IsAdministrator]

    @extend_schema(responses=SignupSwitchBody)
    def get(self, request: Request) -> Response:
        """Whether sign-up is open."""
        return Response({"enabled": is_signup_enabled()})

    @extend_schema(request=SignupSwitchBody, responses=SignupSwitchBody)
    def put(self, request: Request) -> Response:
        """Open or close sign-up, at once and for everybody."""
        enabled = read_body(SignupSwitchBody, request)["enabled"]
        set_signup_enabled(enabled=enabled, by=member_of(request))
        return self.get(request)
