"""All URLs of the service."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from administration.metrics_view import MetricsView
from administration.views.favicon import FaviconView
from administration.views.landing import LandingView
from board.outside_reports.pages import OutsideReportPage
from board.views.images import ImageView
from config.url_aliases import build_alias_urls
from core.api.openapi_view import DocumentationView, OpenApiSchemaView, TryOutView
from core.health import HealthView, LivenessView
from ledger.currencies.views import FxRateView

api_urls: list[URLPattern | URLResolver] = [
    path("", include("accounts.urls")),
    path("account/", include("ledger.urls")),
    path("board/", include("board.urls")),
    path("", include("board.moderation.urls")),
    path("images/<uuid:image_id>", ImageView.as_view(), name="image"),
    path("fx/rate", FxRateView.as_view(), name="fx-rate"),
    path("billing/", include("billing.urls")),
    path("", include("administration.urls")),
    path("health", HealthView.as_view(), name="health"),
    path("health/live", LivenessView.as_view(), name="liveness"),
    path("schema", OpenApiSchemaView.as_view(), name="schema"),
    path("docs", DocumentationView.as_view(), name="docs"),
    path("docs/try", TryOutView.as_view(url_name="schema"), name="try-out"),
]

urlpatterns = [
    path("api/", include(api_urls)),
    path("", LandingView.as_view(), name="landing"),
    path("favicon.ico", FaviconView.as_view(), name="favicon"),
    path("account/", include("accounts.codes.page_urls")),
    path("legal/report", OutsideReportPage.as_view(), name="outside-report-page"),
    path("legal/", include("accounts.legal.page_urls")),
    path("metrics", MetricsView.as_view(), name="metrics"),
    path("admin", RedirectView.as_view(url="/admin/", permanent=True)),
    path("admin/", admin.site.urls),
    *build_alias_urls(api_urls),
]

handler400 = "core.api.exception_handler.bad_request"
handler403 = "core.api.exception_handler.permission_denied"
handler404 = "core.api.exception_handler.not_found"
handler500 = "core.api.exception_handler.server_error"
