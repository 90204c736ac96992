"""The caller's personal tokens."""

from uuid import UUID

from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import ReauthenticationRequiredError
from accounts.login.fresh import require_fresh_authentication
from accounts.sessions.authentication import current_member, session_key_hash
from accounts.tokens import tokens as personal_tokens
from accounts.tokens.serializers import (
    NewPersonalTokenSerializer,
    PersonalTokenRequestSerializer,
    PersonalTokenSerializer,
)
from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.views import ViewSet
from core.errors import LimitReachedError


class PersonalTokenViewSet(ViewSet):
    permission_classes = [IsMember]
    schema_tag = "Sessions"
    lookup_url_kwarg = "token_id"
    lookup_value_converter = "uuid"
    raises = {
        "create": [ReauthenticationRequiredError, LimitReachedError],
        "destroy": [ReauthenticationRequiredError],
    }

    @extend_schema(responses=PersonalTokenSerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the personal tokens of the caller.

        The newest first, without those that have ended.
        """
        rows = personal_tokens.list_tokens(current_member(request), timezone.now())
        return Response(PersonalTokenSerializer(rows, many=True).data)

    @extend_schema(
        request=PersonalTokenRequestSerializer,
        responses={201: NewPersonalTokenSerializer},
    )
    def create(self, request: Request) -> Response:
        """Create a personal token.

        For an automation, which sends it as a session token and may do what its scopes
        say (`x-token-scope` of each operation). A member has at most 20. The session
        must be fresh.
        """
        require_fresh_authentication(request)
        body = validate_body(PersonalTokenRequestSerializer, request)
        created = personal_tokens.create_token(
            current_member(request),
            session_key_hash(request),
            now=timezone.now(),
            **body,
        )
        payload = PersonalTokenSerializer(created.token).data
        return Response(
            payload | {"token": created.key}, status=status.HTTP_201_CREATED
        )

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, token_id: UUID) -> Response:
        """End a personal token.

        It opens nothing from then on. The session must be fresh.
        """
        require_fresh_authentication(request)
        personal_tokens.delete_token(
            current_member(request), session_key_hash(request), token_id, timezone.now()
        )
        return Response(status=status.HTTP_204_NO_CONTENT)
