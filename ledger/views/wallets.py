"""Wallets and their order."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from core.api.permissions import IsMember
from core.api.serializers import validate_query
from core.api.viewsets import ReorderMixin
from core.errors import DuplicateError, InUseError
from ledger import wallets
from ledger.errors import LimitReachedError, MovingError
from ledger.models import Wallet
from ledger.models.base import OwnedQuerySet
from ledger.ownership import OwnedModelViewSet
from ledger.serializers.fields import MOVING_DESCRIPTION, MoveToQuerySerializer
from ledger.serializers.wallets import WalletSerializer


@extend_schema_view(
    list=extend_schema(description="In their `sortOrder`, archived ones too."),
    create=extend_schema(
        description="Added last. Names are unique: 409 `DUPLICATE` if it is taken."
    ),
    destroy=extend_schema(
        description="A wallet in use is 409 `IN_USE`, unless `moveTo` names the wallet "
        "that takes over its entries, quick entries and recurring rules. "
        + MOVING_DESCRIPTION,
        parameters=[MoveToQuerySerializer],
        responses={202: WalletSerializer, 204: None},
    ),
)
class WalletViewSet(ReorderMixin, OwnedModelViewSet):
    permission_classes = [IsMember]
    schema_tag = "Wallets"
    raises = {
        "create": [DuplicateError, LimitReachedError],
        "update": [MovingError, DuplicateError],
        "destroy": [MovingError, InUseError],
    }
    queryset = Wallet.objects.all()
    serializer_class = WalletSerializer
    lookup_url_kwarg = "wallet_id"

    def get_queryset(self) -> OwnedQuerySet:
        return wallets.with_balance(super().get_queryset(), self.member)

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = wallets.create_wallet(
            self.member, serializer.validated_data, timezone.now()
        )

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.instance = wallets.update_wallet(
            self.member, self.object_id, serializer.validated_data, timezone.now()
        )

    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        move_to = validate_query(MoveToQuerySerializer, request).get("move_to")
        moving = wallets.delete_wallet(self.member, self.object_id, move_to)
        if moving is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(WalletSerializer(moving).data, status.HTTP_202_ACCEPTED)

    def perform_reorder(self, ids: list[int]) -> None:
        wallets.reorder_wallets(self.member, ids)
