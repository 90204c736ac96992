"""Wallets, history and valuations."""

from datetime import date
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_view
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from core.api.operations import extend_schema
from core.api.pagination import MAX_PAGE_SIZE, DayKey, open_page_payload
from core.api.permissions import IsMember
from core.api.serializers import list_payload, validate_body, validate_query
from core.api.token_scopes import LEDGER
from core.api.viewsets import ReorderMixin
from core.errors import (
    DuplicateError,
    InUseError,
    LimitReachedError,
    NotFoundError,
)
from ledger.base.ownership import OwnedModelViewSet
from ledger.entries.listing import get_entry_payload
from ledger.models import OperationKind, Wallet
from ledger.models.base import OwnedQuerySet
from ledger.moving.serializers import MoveToQuerySerializer
from ledger.wallets import valuations, wallets
from ledger.wallets.history import list_history, reconcile
from ledger.wallets.serializers import (
    ReconcileRequestSerializer,
    ReconciliationSerializer,
    ValuationQuerySerializer,
    ValuationSerializer,
    WalletHistoryQuerySerializer,
    WalletHistorySerializer,
    WalletSerializer,
)


@extend_schema_view(
    list=extend_schema(description="In their `sortOrder`, archived ones too."),
    create=extend_schema(
        description="Added last. Names are unique: 409 `DUPLICATE` if it is taken."
    ),
    destroy=extend_schema(
        description="A wallet in use is 409 `IN_USE`, unless `moveTo` names the wallet "
        "that takes over its entries, quick entries and recurring rules.",
        parameters=[MoveToQuerySerializer],
        responses={204: None},
    ),
)
class WalletViewSet(ReorderMixin, OwnedModelViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Wallets"
    raises = {
        "create": [DuplicateError, LimitReachedError],
        "update": [DuplicateError],
        "destroy": [InUseError, LimitReachedError],
        "reconcile_wallet": [LimitReachedError],
    }
    versioned_actions = OwnedModelViewSet.versioned_actions | {"create_valuation"}
    guarded_actions = OwnedModelViewSet.guarded_actions | {"delete_valuation"}
    operations = OwnedModelViewSet.operations | {
        "delete_valuation": OperationKind.DELETE
    }
    queryset = Wallet.objects.all()
    serializer_class = WalletSerializer
    lookup_url_kwarg = "wallet_id"

    def get_queryset(self) -> OwnedQuerySet:
        return wallets.select_wallets(self.member.pk)

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
        wallets.delete_wallet(self.member, self.object_id, move_to)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        request=ReconcileRequestSerializer, responses=ReconciliationSerializer
    )
    @action(detail=True, methods=["post"], url_path="reconcile")
    def reconcile_wallet(self, request: Request, wallet_id: int) -> Response:
        """Reconcile a wallet.

        An excluded entry adds what the balance lacks at the end of a day. A wallet with
        a manual valuation gets a typed-in value instead.
        """
        wallets.get_wallet(self.member, wallet_id)
        body = validate_body(ReconcileRequestSerializer, request)
        found = reconcile(
            self.member,
            wallet_id,
            body["date"],
            body["balance"],
            timezone.now(),
            dry_run=body["dry_run"],
        )
        entry = found.entry_id and get_entry_payload(self.member, found.entry_id)
        return Response(
            {
                "before": found.before,
                "difference": found.difference,
                "entry": entry or None,
            }
        )

    @extend_schema(
        parameters=[WalletHistoryQuerySerializer], responses=WalletHistorySerializer
    )
    @action(detail=True, url_path="history")
    def list_wallet_history(self, request: Request, wallet_id: int) -> Response:
        """List what moved a wallet.

        Confirmed entries, and transfers from either side, oldest first, each with the
        balance after it.
        """
        query = validate_query(WalletHistoryQuerySerializer, request)
        page = list_history(
            self.member,
            wallet_id,
            query.get("from_", date.min),
            query.get("to", date.max),
            DayKey.parse(query["after"]) if "after" in query else None,
            min(query["size"], MAX_PAGE_SIZE),
        )
        key = None if page.next is None else str(page.next)
        return Response(open_page_payload(request, "after", key, page.rows))

    @extend_schema(responses=ValuationSerializer(many=True))
    @action(detail=True, methods=["get"], url_path="valuations")
    def list_valuations(self, request: Request, wallet_id: int) -> Response:
        """List the typed-in values of a wallet.

        One for each day, oldest first; the last one is its current value.
        """
        wallets.get_wallet(self.member, wallet_id)
        rows = valuations.list_valuations(self.member, wallet_id)
        return Response(list_payload(ValuationSerializer, rows))

    @extend_schema(request=ValuationSerializer, responses={201: ValuationSerializer})
    @list_valuations.mapping.post
    def create_valuation(self, request: Request, wallet_id: int) -> Response:
        """Type in a value of a wallet.

        In place of the one of that day, if there is one.
        """
        wallets.get_wallet(self.member, wallet_id)
        body = validate_body(ValuationSerializer, request)
        wallets.create_valuation(
            self.member, wallet_id, body["date"], body["value"], timezone.now()
        )
        stored = self._describe_valuation(wallet_id, body["date"])
        return Response(stored, status.HTTP_201_CREATED)

    @extend_schema(parameters=[ValuationQuerySerializer], responses={204: None})
    @list_valuations.mapping.delete
    def delete_valuation(self, request: Request, wallet_id: int) -> Response:
        """Delete a typed-in value.

        Without any left, the balance counts again.
        """
        wallets.get_wallet(self.member, wallet_id)
        day = validate_query(ValuationQuerySerializer, request)["date"]
        wallets.delete_valuation(self.member, wallet_id, day)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _describe_valuation(self, wallet_id: int, day: date) -> Any:
        rows = valuations.list_valuations(self.member, wallet_id)
        for row in rows:
            if row.date == day:
                return ValuationSerializer(row).data
        raise NotFoundError

    def read_current(self) -> Any:
        if self.action != "delete_valuation":
            return super().read_current()
        day = validate_query(ValuationQuerySerializer, self.request)["date"]
        return self._describe_valuation(self.object_id, day)

    def perform_reorder(self, ids: list[int]) -> None:
        wallets.reorder_wallets(self.member, ids)

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        rows = wallets.list_wallets(self.member)
        return Response(list_payload(WalletSerializer, rows))
