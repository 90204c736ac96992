"""Every address of the service: one include for each app."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView, TemplateView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from config import paths_as_written
from config.health import HealthView, LiveView

api_urls: list[URLPattern | URLResolver] = [
    path("account/", include("ledger.urls")),
    path("", include("accounts.urls")),
    path("", include("administration.urls")),
    path("health", HealthView.as_view()),
    path("health/live", LiveView.as_view()),
    path("schema", SpectacularAPIView.as_view(), name="schema"),
    path("docs", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
]

urlpatterns = [
    path("api/", include(api_urls)),
    path("", TemplateView.as_view(template_name="landing.html"), name="landing"),
    path("admin", RedirectView.as_view(url="/admin/", permanent=True)),
    path("admin/", admin.site.urls),
    path("", include(paths_as_written.urlpatterns)),
    path("api/", include(paths_as_written.without_account)),
]

handler400 = "config.api.problems.bad_request"
handler403 = "config.api.problems.permission_denied"
handler404 = "config.api.problems.not_found"
handler500 = "config.api.problems.server_error"
