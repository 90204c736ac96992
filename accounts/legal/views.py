"""Documents for everybody, their publication, and the caller's consents."""

from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.legal import consents, documents
from accounts.legal.serializers import (
    ConsentRequestSerializer,
    ConsentSerializer,
    LegalDocumentSerializer,
)
from accounts.models import LegalDocument
from accounts.sessions.authentication import current_member
from core.api.openapi import page_serializer
from core.api.operations import CreatedItem, extend_schema
from core.api.pagination import (
    MAX_ROW_ID,
    PageQuerySerializer,
    get_page_request,
    page_payload,
    paginate_queryset,
)
from core.api.permissions import AllowAny, IsAdministrator, IsMember
from core.api.serializers import validate_body
from core.api.views import APIView, ViewSet
from core.client_ip import get_client_ip
from core.errors import DuplicateError, NotFoundError, RateLimitedError
from core.languages import choose_language_of

SCHEMA_TAG = "Documents"
# Each character escaped.
MAX_DOCUMENT_BYTES = 5 * 2**18


class LegalDocumentsView(APIView):
    permission_classes = [AllowAny]
    schema_tag = SCHEMA_TAG

    @extend_schema(
        operation_id="listLegalDocuments",
        responses=LegalDocumentSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """List the documents in force.

        One of each kind, in the language of the request where there is one.
        """
        found = documents.list_documents(choose_language_of(request), timezone.now())
        return Response(LegalDocumentSerializer(found, many=True).data)


class DocumentViewSet(ViewSet):
    permission_classes = [IsAdministrator]
    schema_tag = SCHEMA_TAG
    body_limits = {"create": MAX_DOCUMENT_BYTES}
    raises = {"create": [DuplicateError]}
    lookup_url_kwarg = "document_id"
    lookup_value_converter = "int"

    @extend_schema(
        operation_id="listPublishedDocuments",
        parameters=[PageQuerySerializer],
        responses=page_serializer(LegalDocumentSerializer),
    )
    def list(self, request: Request) -> Response:
        """List all versions of all documents.

        The newest first, with those that are not in force yet.
        """
        page = get_page_request(request)
        count, found = paginate_queryset(LegalDocument.objects.order_by("-id"), page)
        results = LegalDocumentSerializer(found, many=True).data
        return Response(page_payload(request, page, count, results))

    @extend_schema(
        operation_id="publishDocument",
        request=LegalDocumentSerializer,
        responses={201: LegalDocumentSerializer},
        creates=CreatedItem("document-detail"),
    )
    def create(self, request: Request) -> Response:
        """Publish a document.

        It never changes: another version takes its place from `effectiveAt`. While a
        required one is due, members write nothing on the board; the ledger stays open.
        """
        body = validate_body(LegalDocumentSerializer, request)
        document = documents.publish_document(current_member(request), body)
        payload = LegalDocumentSerializer(document).data
        return Response(payload, status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="getPublishedDocument", responses=LegalDocumentSerializer
    )
    def retrieve(self, request: Request, document_id: int) -> Response:
        """Get a version of a document."""
        document = LegalDocument.objects.filter(pk=min(document_id, MAX_ROW_ID)).first()
        if document is None:
            raise NotFoundError
        return Response(LegalDocumentSerializer(document).data)


class ConsentsView(APIView):
    permission_classes = [IsMember]
    schema_tag = SCHEMA_TAG
    raises = {"post": [RateLimitedError]}

    @extend_schema(operation_id="listConsents", responses=ConsentSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List what the caller said to documents.

        The last first; of one document the first of the list counts.
        """
        found = consents.list_consents(current_member(request))
        return Response(ConsentSerializer(found, many=True).data)

    @extend_schema(
        operation_id="giveConsent",
        request=ConsentRequestSerializer,
        responses={201: ConsentSerializer},
    )
    def post(self, request: Request) -> Response:
        """Accept a document, or take the consent back.

        What was said before stays in the list. At most 50 answers a day.
        """
        body = validate_body(ConsentRequestSerializer, request)
        consent = consents.answer_document(
            current_member(request),
            body["document_id"],
            get_client_ip(request),
            accepted=body["accepted"],
        )
        return Response(ConsentSerializer(consent).data, status=status.HTTP_201_CREATED)
