"""Wallets and their order."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.ordering import ReorderRequestSerializer, reorder
from core.api.permissions import IsMember
from core.api.serializers import validate_body, validate_query
from ledger import wallets
from ledger.models import Wallet
from ledger.ownership import OwnedViewSet
from ledger.serializers.fields import MoveToQuerySerializer
from ledger.serializers.wallets import WalletSerializer, wallet_payload


class WalletViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(responses=WalletSerializer(many=True))
    def list(self, request: Request) -> Response:
        rows = wallets.list_wallets(self.member)
        return Response([wallet_payload(wallet) for wallet in rows])

    @extend_schema(request=WalletSerializer, responses={201: WalletSerializer})
    def create(self, request: Request) -> Response:
        """A new wallet goes last; its name is the member's only one, else 409."""
        wallet = wallets.create_wallet(
            self.member, validate_body(WalletSerializer, request)
        )
        return Response(wallet_payload(wallet), status=status.HTTP_201_CREATED)

    @extend_schema(responses=WalletSerializer)
    def retrieve(self, request: Request, wallet_id: int) -> Response:
        return Response(wallet_payload(wallets.get_wallet(self.member, wallet_id)))

    @extend_schema(request=WalletSerializer, responses=WalletSerializer)
    def update(self, request: Request, wallet_id: int) -> Response:
        return self._change(request, wallet_id, partial=False)

    @extend_schema(request=WalletSerializer, responses=WalletSerializer)
    def partial_update(self, request: Request, wallet_id: int) -> Response:
        return self._change(request, wallet_id, partial=True)

    def _change(self, request: Request, wallet_id: int, *, partial: bool) -> Response:
        wallets.get_wallet(self.member, wallet_id)
        body = validate_body(WalletSerializer, request, partial=partial)
        wallet = wallets.update_wallet(self.member, wallet_id, body)
        return Response(wallet_payload(wallet))

    @extend_schema(parameters=[MoveToQuerySerializer], responses={204: None})
    def destroy(self, request: Request, wallet_id: int) -> Response:
        """409 while entries use it, unless `moveTo` names another wallet."""
        move_to = validate_query(MoveToQuerySerializer, request).get("move_to")
        wallets.delete_wallet(self.member, wallet_id, move_to)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        request=ReorderRequestSerializer, responses=WalletSerializer(many=True)
    )
    def reorder(self, request: Request) -> Response:
        ids = validate_body(ReorderRequestSerializer, request)["ids"]
        with transaction.atomic():
            rows = Wallet.objects.owned_by(self.member)
            reorder(rows.select_for_update(no_key=True), ids)
        return self.list(request)
