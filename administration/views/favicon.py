"""The address at which browsers look for an icon."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.views import View

CACHE_ONE_DAY = "public, max-age=86400"


class FaviconView(View):
    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponse:
        response = HttpResponseRedirect(static("administration/favicon.svg"))
        response.headers["Cache-Control"] = CACHE_ONE_DAY
        return response
