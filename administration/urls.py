"""The addresses of the administrators' area, below /api."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from administration.views import members, signup_setting, users
from administration.views.not_found import AdminNotFoundView
from ledger.views.default_categories import DefaultCategoryViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("default-categories", DefaultCategoryViewSet, "default-category")

admin_urls = [
    path("signup-enabled", signup_setting.SignupSettingView.as_view()),
    path("members", members.MembersView.as_view()),
    path("members/<int:member_id>", members.MemberView.as_view()),
    path("members/<int:member_id>/role", members.RoleView.as_view()),
    path("members/<int:member_id>/status", members.StatusView.as_view()),
    path("members/<int:member_id>/plan", members.PlanView.as_view()),
    *router.urls,
]

urlpatterns = [
    path("admin/", include(admin_urls)),
    path("admin/<path:unknown>", AdminNotFoundView.as_view()),
    path("users", users.UsersView.as_view()),
    path("users/<int:member_id>", users.UserView.as_view()),
]
