"""The caller's identities at identity providers."""

from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import (
    IdentityProviderNotConfiguredError,
    InvalidIdTokenError,
    LastCredentialError,
    ReauthenticationRequiredError,
    SwitchedOffError,
)
from accounts.login import identities
from accounts.login.fresh import require_fresh_authentication
from accounts.login.identity_provider import verify_id_token
from accounts.login.serializers import (
    MAX_ID_TOKEN_BYTES,
    IdentityLinkRequestSerializer,
    LinkedIdentitySerializer,
)
from accounts.security.rate_limits import count_identity_failures
from accounts.sessions.authentication import current_member, session_key_hash
from accounts.switches.switches import Switch, require_switch
from core.api.operations import CreatedItem, extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.views import ViewSet
from core.client_ip import get_client_ip
from core.errors import (
    DuplicateError,
    NotFoundError,
    ProviderUnavailableError,
    RateLimitedError,
)


class IdentityViewSet(ViewSet):
    permission_classes = [IsMember]
    schema_tag = "Sessions"
    body_limits = {"create": MAX_ID_TOKEN_BYTES}
    lookup_url_kwarg = "provider"
    lookup_value_converter = "str"
    raises = {
        "create": [
            ReauthenticationRequiredError,
            SwitchedOffError,
            IdentityProviderNotConfiguredError,
            InvalidIdTokenError,
            DuplicateError,
            ProviderUnavailableError,
            RateLimitedError,
        ],
        "destroy": [
            ReauthenticationRequiredError,
            NotFoundError,
            LastCredentialError,
        ],
    }

    @extend_schema(responses=LinkedIdentitySerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the identities of the caller.

        Each logs in with an ID token of its provider.
        """
        rows = identities.list_identities(current_member(request))
        return Response(LinkedIdentitySerializer(rows, many=True).data)

    @extend_schema(
        request=IdentityLinkRequestSerializer,
        responses={201: LinkedIdentitySerializer},
        creates=CreatedItem("identity-detail", ("provider",)),
    )
    def create(self, request: Request) -> Response:
        """Link an identity.

        One of each provider; 409 `DUPLICATE` for a second one, and for one of another
        member. The session must be fresh.
        """
        require_fresh_authentication(request)
        require_switch(Switch.IDENTITY_PROVIDERS)
        body = validate_body(IdentityLinkRequestSerializer, request)
        member = current_member(request)
        with count_identity_failures(get_client_ip(request), member.pk):
            identity = verify_id_token(body["id_token"], body.get("nonce"))
        linked = identities.link_from_within(
            member, identity, session_key_hash(request), timezone.now()
        )
        payload = LinkedIdentitySerializer(linked).data
        return Response(payload, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, provider: str) -> Response:
        """Remove an identity.

        The sessions that began with it end, and it is linked again only by
        `createIdentity`. The only way into the account stays: 409 `LAST_CREDENTIAL`.
        The session must be fresh.
        """
        require_fresh_authentication(request)
        identities.remove_identity(
            current_member(request), provider, session_key_hash(request), timezone.now()
        )
        return Response(status=status.HTTP_204_NO_CONTENT)
