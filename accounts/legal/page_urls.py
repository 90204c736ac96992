"""Pages of documents, below /legal."""

from django.urls import path

from accounts.legal.pages import LegalDocumentPage

urlpatterns = [
    path("<slug:kind>", LegalDocumentPage.as_view(), name="legal-document"),
]
