"""The landing page (spec 7.7)."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.views.generic import TemplateView


class LandingView(TemplateView):
    template_name = "landing.html"

    def get(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        response = super().get(request, *args, **options)
        language = translation.get_language() or settings.LANGUAGE_CODE
        response.headers["Content-Language"] = language
        patch_vary_headers(response, ["Accept-Language"])
        return response
