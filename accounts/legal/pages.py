"""Documents as pages, below /legal."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language
from django.views import View

from accounts.legal.documents import list_documents
from accounts.models import Member


class LegalDocumentPage(View):
    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, kind: str) -> HttpResponse:
        language = get_language() or Member.Locale.EN
        found = {
            each.kind.lower(): each for each in list_documents(language, timezone.now())
        }
        if kind not in found:
            raise Http404
        page = {"document": found[kind], "language": found[kind].locale}
        response = render(request, "legal/document.html", page)
        response.headers["Content-Language"] = found[kind].locale
        patch_vary_headers(response, ["Accept-Language"])
        return response
