"""Settings and bills of cards, and parts of purchases."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import CreatedItem, extend_schema
from core.api.permissions import IsMember, IsPremium
from core.api.serializers import list_payload, validate_body, validate_query
from core.api.token_scopes import LEDGER
from core.errors import (
    DuplicateError,
    InUseError,
    InvalidFieldError,
    LimitReachedError,
    NotFoundError,
)
from ledger.base.month_fields import parse_month_name
from ledger.base.ownership import (
    OwnedModelViewSet,
    OwnedView,
    OwnedViewSet,
    get_owned_or_404,
)
from ledger.cards import bills, card_settings
from ledger.cards.installment_parts import read_parts, set_parts
from ledger.cards.paying import SentPayment, pay_bill
from ledger.cards.presets import list_presets
from ledger.cards.printed import delete_printed, set_printed
from ledger.cards.schedule import first_of_month
from ledger.cards.serializers import (
    BillMonthQuerySerializer,
    BillRangeQuerySerializer,
    BillSerializer,
    BillsOfMonthSerializer,
    CardSerializer,
    PartsSerializer,
    PayBillSerializer,
    PresetSerializer,
    PrintedBillSerializer,
)
from ledger.cards.settings_payload import describe_card
from ledger.entries.listing import get_entry_payload
from ledger.entries.serializers import EntrySerializer
from ledger.models import Card, Entry, OperationKind, Wallet


class CardViewSet(OwnedModelViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Cards"
    raises = {"update": [LimitReachedError], "destroy": [InUseError]}
    # 200 names, each character escaped.
    body_limits = {"update": 2**18}
    queryset = Card.objects.all()
    serializer_class = CardSerializer
    lookup_url_kwarg = "wallet_id"

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Get the settings of a card.

        404 for a wallet without. `credit` and `unbilled` are those of the bill that
        the card is on.
        """
        today = timezone.localdate()
        values = describe_card(self.member, self.object_id, today)
        return Response(CardSerializer().to_representation(values))

    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Replace the settings of a card.

        They are made if there are none. Of a CHECK_CARD, `targets` and
        `targetExcludes` alone. New days hold from the bill of `from` on; bills before
        it keep theirs, and what lies before the first bill is `carried` of it.
        """
        self.raise_if_missing()
        values: Any = validate_body(CardSerializer, request)
        card_settings.set_card(self.member, self.object_id, values, timezone.now())
        return self.retrieve(request)

    def perform_destroy(self, object_id: int) -> None:
        card_settings.delete_card(self.member, object_id)

    def raise_if_missing(self) -> None:
        """Raise `NotFoundError`; a PUT needs the wallet only."""
        if self.action != "update":
            super().raise_if_missing()
            return
        get_owned_or_404(Wallet.objects.all(), self.member, self.object_id)

    def read_current(self) -> Any:
        try:
            return self.retrieve(self.request).data
        except NotFoundError:
            if self.action != "update":
                raise
            # No version fits settings that are not there.
            return {}


class CardPresetViewSet(OwnedViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Cards"

    @extend_schema(responses=PresetSerializer(many=True))
    def list_card_presets(self, request: Request) -> Response:
        """List known days of issuers.

        To be offered and never applied: public tables contradict one another.
        """
        return Response(list_payload(PresetSerializer, list_presets()))


class BillView(OwnedView):
    schema_tag = "Cards"

    def read_month(self) -> Any:
        """Return the month of the path; raise `InvalidFieldError`."""
        try:
            return parse_month_name(self.kwargs["month"])
        except serializers.ValidationError as error:
            (detail,) = error.detail
            raise InvalidFieldError("month", str(detail)) from None

    def describe(self, wallet_id: int) -> Any:
        today = timezone.localdate()
        found = bills.get_bill(self.member, wallet_id, self.read_month(), today)
        return BillSerializer().to_representation(bills.describe_bill(found))


class BillViewSet(BillView, OwnedViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    raises = {"pay_card_bill": [DuplicateError, LimitReachedError]}
    operations = {"delete_printed_bill": OperationKind.DELETE}

    @extend_schema(
        parameters=[BillRangeQuerySerializer], responses=BillSerializer(many=True)
    )
    def list_card_bills(self, request: Request, wallet_id: int) -> Response:
        """List the bills of a card.

        Oldest first. Of a card on the bill of another one, those are its bills.
        """
        query = validate_query(BillRangeQuerySerializer, request)
        found = bills.list_bills(
            self.member,
            wallet_id,
            query.get("from_"),
            query.get("to"),
            timezone.localdate(),
        )
        return Response(list_payload(BillSerializer, map(bills.describe_bill, found)))

    @extend_schema(responses=BillSerializer)
    def get_card_bill(self, request: Request, wallet_id: int, month: str) -> Response:
        """Get a bill of a card.

        404 for a month before its first bill, or more than 36 months ahead.
        """
        return Response(self.describe(wallet_id))

    @extend_schema(request=PrintedBillSerializer, responses=BillSerializer)
    def set_printed_bill(
        self, request: Request, wallet_id: int, month: str
    ) -> Response:
        """Type in what the issuer printed on a bill.

        In place of what was typed in before.
        """
        bills.require_group(self.member, wallet_id)
        named = self.read_month()
        printed: Any = validate_body(PrintedBillSerializer, request)
        set_printed(self.member, wallet_id, named, printed, timezone.now())
        return Response(self.describe(wallet_id))

    @extend_schema(responses={204: None})
    def delete_printed_bill(
        self, request: Request, wallet_id: int, month: str
    ) -> Response:
        """Delete what was typed in of a bill.

        It is as computed again. 404 if there is nothing.
        """
        delete_printed(self.member, wallet_id, self.read_month(), timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        request=PayBillSerializer,
        responses={201: EntrySerializer},
        creates=CreatedItem("entry-detail"),
    )
    def pay_card_bill(self, request: Request, wallet_id: int, month: str) -> Response:
        """Pay a bill.

        With a transfer to the card; one that pays the whole bill of several cards has
        a line for each. 409 `DUPLICATE` where nothing remains, or where a transfer of
        the amount waits to be confirmed.
        """
        bills.require_group(self.member, wallet_id)
        named = self.read_month()
        sent = SentPayment(**validate_body(PayBillSerializer, request))
        entry_id = pay_bill(self.member, wallet_id, named, sent, timezone.now())
        entry = get_entry_payload(self.member, entry_id)
        return Response(entry, status.HTTP_201_CREATED)


class MonthBillViewSet(BillView, OwnedViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER

    @extend_schema(
        parameters=[BillMonthQuerySerializer], responses=BillsOfMonthSerializer
    )
    def list_bills_of_month(self, request: Request) -> Response:
        """List the bills of all cards in one month.

        With their sums.
        """
        today = timezone.localdate()
        query = validate_query(BillMonthQuerySerializer, request)
        month = query.get("month", first_of_month(today))
        found = bills.list_bills_of_month(self.member, month, today)
        values = {
            "month": month,
            **bills.sum_bills(found),
            "bills": [bills.describe_bill(each) for each in found],
        }
        return Response(BillsOfMonthSerializer().to_representation(values))


class PartsViewSet(OwnedModelViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Cards"
    queryset = Entry.objects.all()
    serializer_class = PartsSerializer
    lookup_url_kwarg = "entry_id"
    versioned_actions = frozenset({"get_installment_parts", "set_installment_parts"})
    guarded_actions = frozenset({"set_installment_parts"})

    @extend_schema(responses=PartsSerializer)
    def get_installment_parts(self, request: Request, entry_id: int) -> Response:
        """Get the parts of a purchase in installments.

        As typed in, else equal, with the remainder in the first.
        """
        parts = read_parts(self.member, entry_id)
        return Response(PartsSerializer().to_representation(parts))

    @extend_schema(request=PartsSerializer, responses=PartsSerializer)
    def set_installment_parts(self, request: Request, entry_id: int) -> Response:
        """Type in the parts of a purchase.

        A change of the amount or of the months of the entry drops them.
        """
        self.raise_if_missing()
        amounts = validate_body(PartsSerializer, request)["amounts"]
        set_parts(self.member, entry_id, amounts, timezone.now())
        return self.get_installment_parts(request, entry_id)

    def read_current(self) -> Any:
        return self.get_installment_parts(self.request, self.object_id).data
