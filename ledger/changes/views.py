"""The feed of changes."""

from datetime import timedelta

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.security.rate_limits import RateLimitPolicy
from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_query
from core.api.token_scopes import LEDGER
from core.errors import RateLimitedError
from ledger.base.ownership import OwnedViewSet
from ledger.changes.cursors import open_cursor
from ledger.changes.feed import compute_digest, read_changes
from ledger.changes.serializers import (
    MAX_SIZE,
    ChangesQuerySerializer,
    ChangesSerializer,
    DigestSerializer,
    describe_digest,
    describe_page,
)
from ledger.errors import CursorExpiredError

# It reads all rows of a ledger.
DIGESTS = RateLimitPolicy("ledger-digest", 12, timedelta(hours=1))


class ChangeViewSet(OwnedViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Changes"
    raises = {"list": [CursorExpiredError], "get_digest": [RateLimitedError]}

    @extend_schema(parameters=[ChangesQuerySerializer], responses=ChangesSerializer)
    def list(self, request: Request) -> Response:
        """List changes.

        Rows that were written or deleted after `since`, each once with its latest
        version, in the order in which they were written: from them a client keeps a
        copy of all that it may see.
        """
        query = validate_query(ChangesQuerySerializer, request)
        has_paid_kinds = self.member.has_premium
        since = query.get("since")
        cursor = since and open_cursor(
            since, self.member, timezone.localdate(), has_paid_kinds=has_paid_kinds
        )
        page = read_changes(
            self.member,
            cursor or None,
            min(query["size"], MAX_SIZE),
            has_paid_kinds=has_paid_kinds,
        )
        return Response(describe_page(page, self.member))

    @extend_schema(responses=DigestSerializer)
    @action(detail=False, url_path="digest")
    def get_digest(self, request: Request) -> Response:
        """Get the digest of all rows.

        A number for each kind, which a copy has too if it is the same; 12 an hour.
        """
        DIGESTS.consume(str(self.member.pk))
        digest = compute_digest(self.member, has_paid_kinds=self.member.has_premium)
        return Response(describe_digest(digest, self.member))
