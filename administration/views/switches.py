"""The switches of the service."""

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.sessions.authentication import current_member
from accounts.switches.switches import Switches, read_switches, set_switches
from administration.serializers import SwitchesSerializer
from core.api.operations import extend_schema
from core.api.permissions import IsAdministrator
from core.api.serializers import to_payload, validate_body
from core.api.views import APIView


class SwitchesView(APIView):
    permission_classes = [IsAdministrator]
    schema_tag = "Switches"
    works_read_only = True

    @extend_schema(operation_id="getSwitches", responses=SwitchesSerializer)
    def get(self, request: Request) -> Response:
        """Get the switches.

        What members may do now; all is open but `readOnly` unless it was changed.
        """
        return Response(to_payload(SwitchesSerializer, read_switches()))

    @extend_schema(
        operation_id="updateSwitches",
        request=SwitchesSerializer,
        responses=SwitchesSerializer,
    )
    def put(self, request: Request) -> Response:
        """Turn switches on and off.

        What is switched off answers 403 `SWITCHED_OFF`, a sign-up `SIGNUP_DISABLED`;
        when the answer comes, nothing of it is written any more. `readOnly` takes
        effect within seconds: all changes but logins, logout and this one are 503
        `READ_ONLY`.
        """
        body = validate_body(SwitchesSerializer, request)
        set_switches(Switches(**body), current_member(request))
        return self.get(request)
