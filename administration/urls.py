"""URLs of the administrators' API, below /api."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from administration.views.log import LogFileView, LogView
from administration.views.members import MemberViewSet
from administration.views.meta import MetaView
from administration.views.not_found import AdminNotFoundView
from administration.views.signup_setting import SignupSettingView
from administration.views.switches import SwitchesView
from administration.views.users import UserViewSet
from ledger.categories.default_views import DefaultCategoryViewSet

admin_router = SimpleRouter(trailing_slash=False, use_regex_path=False)
admin_router.register("members", MemberViewSet, "member")
admin_router.register("default-categories", DefaultCategoryViewSet, "default-category")

user_router = SimpleRouter(trailing_slash=False, use_regex_path=False)
user_router.register("users", UserViewSet, "user")

admin_urls = [
    *admin_router.urls,
    path("signup-enabled", SignupSettingView.as_view(), name="signup-setting"),
    path("log", LogView.as_view(), name="log"),
    path("log.csv", LogFileView.as_view(), name="log-file"),
    path("switches", SwitchesView.as_view(), name="switches"),
]

urlpatterns = [
    path("meta", MetaView.as_view(), name="meta"),
    path("admin/", include(admin_urls)),
    # Only administrators learn which paths exist (spec 1.10).
    path("admin/<path:unknown>", AdminNotFoundView.as_view(), name="admin-not-found"),
    *user_router.urls,
]
