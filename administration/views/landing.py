"""The landing page (spec 7.7)."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.views.generic import TemplateView

from accounts.legal.documents import (
    KNOWN,
    choose_by_language,
    list_in_force,
)


class LandingView(TemplateView):
    template_name = "landing.html"

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        """Add the version, the documents in force, and the pages of members."""
        language = translation.get_language() or settings.LANGUAGE_CODE
        in_force = list_in_force(KNOWN.list_all(), timezone.now())
        documents = [
            {
                "path": each.kind.lower(),
                "title": each.title,
                "version": each.version,
                "effective_at": each.effective_at,
            }
            for each in choose_by_language(in_force, language)
        ]
        legal = settings.ABOUT["legal"]
        return super().get_context_data(
            documents=documents,
            account_deletion=legal["account_deletion"] or "/account/delete",
            reports=legal["reports"] or "/legal/report",
            name=settings.ABOUT["name"],
            picture=f"administration/landing-{language}.png",
            version=settings.VERSION,
            license=settings.LICENSE,
            source=settings.ABOUT["source"],
            **options,
        )

    def get(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        response = super().get(request, *args, **options)
        language = translation.get_language() or settings.LANGUAGE_CODE
        response.headers["Content-Language"] = language
        patch_vary_headers(response, ["Accept-Language"])
        return response
