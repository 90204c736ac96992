"""Wallets and their order."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_body, read_query
from core.api.ordering import ReorderBody, reorder
from core.api.permissions import IsMember
from ledger import wallets
from ledger.models import Wallet
from ledger.ownership import OwnedViewSet
from ledger.serializers.fields import MoveToQuery
from ledger.serializers.wallets import WalletBody, describe_wallet


class WalletViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(responses=WalletBody(many=True))
    def list(self, request: Request) -> Response:
        rows = wallets.list_wallets(self.member)
        return Response([describe_wallet(wallet) for wallet in rows])

    @extend_schema(request=WalletBody, responses={201: WalletBody})
    def create(self, request: Request) -> Response:
        """A new wallet goes last; its name is the member's only one, else 409."""
        wallet = wallets.create_wallet(self.member, read_body(WalletBody, request))
        return Response(describe_wallet(wallet), status=status.HTTP_201_CREATED)

    @extend_schema(responses=WalletBody)
    def retrieve(self, request: Request, wallet_id: int) -> Response:
        return Response(describe_wallet(wallets.find_wallet(self.member, wallet_id)))

    @extend_schema(request=WalletBody, responses=WalletBody)
    def update(self, request: Request, wallet_id: int) -> Response:
        return self._change(request, wallet_id, partial=False)

    @extend_schema(request=WalletBody, responses=WalletBody)
    def partial_update(self, request: Request, wallet_id: int) -> Response:
        return self._change(request, wallet_id, partial=True)

    def _change(self, request: Request, wallet_id: int, *, partial: bool) -> Response:
        wallets.find_wallet(self.member, wallet_id)
        body = read_body(WalletBody, request, partial=partial)
        wallet = wallets.change_wallet(self.member, wallet_id, body)
        return Response(describe_wallet(wallet))

    @extend_schema(parameters=[MoveToQuery], responses={204: None})
    def destroy(self, request: Request, wallet_id: int) -> Response:
        """409 while entries use it, unless `moveTo` names another wallet."""
        move_to = read_query(MoveToQuery, request).get("move_to")
        wallets.delete_wallet(self.member, wallet_id, move_to)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=ReorderBody, responses=WalletBody(many=True))
    def reorder(self, request: Request) -> Response:
        ids = read_body(ReorderBody, request)["ids"]
        with transaction.atomic():
            rows = Wallet.objects.owned_by(self.member)
            reorder(rows.select_for_update(no_key=True), ids)
        return self.list(request)
