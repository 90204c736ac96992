"""The sign-up setting."""

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.sessions.authentication import current_member
from accounts.signup.setting import is_signup_enabled, set_signup_enabled
from administration.serializers import SignupSettingSerializer
from core.api.operations import extend_schema
from core.api.permissions import IsAdministrator
from core.api.serializers import validate_body
from core.api.views import APIView


class SignupSettingView(APIView):
    permission_classes = [IsAdministrator]
    schema_tag = "Sign-up setting"

    @extend_schema(responses=SignupSettingSerializer)
    def get(self, request: Request) -> Response:
        """Get the sign-up setting.

        Open unless an administrator has closed it.
        """
        return Response({"enabled": is_signup_enabled()})

    @extend_schema(
        operation_id="updateSignupSetting",
        request=SignupSettingSerializer,
        responses=SignupSettingSerializer,
    )
    def put(self, request: Request) -> Response:
        """Open or close sign-up.

        Takes effect immediately.
        """
        enabled = validate_body(SignupSettingSerializer, request)["enabled"]
        set_signup_enabled(enabled=enabled, by=current_member(request))
        return self.get(request)
