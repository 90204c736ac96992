"""The addresses of the administrators' area, below /api."""

from django.urls import include, path

from administration.views import members, signup_setting, users
from administration.views.not_found import AdminNotFoundView
from ledger.views import default_categories

admin_urls = [
    path("signup-enabled", signup_setting.SignupSettingView.as_view()),
    path("members", members.MembersView.as_view()),
    path("members/<int:member_id>", members.MemberView.as_view()),
    path("members/<int:member_id>/role", members.RoleView.as_view()),
    path("members/<int:member_id>/status", members.StatusView.as_view()),
    path("members/<int:member_id>/plan", members.PlanView.as_view()),
    path("default-categories", default_categories.DefaultCategoriesView.as_view()),
    path(
        "default-categories/reorder",
        default_categories.DefaultCategoryOrderView.as_view(),
    ),
    path(
        "default-categories/<int:category_id>",
        default_categories.DefaultCategoryView.as_view(),
    ),
]

urlpatterns = [
    path("admin/", include(admin_urls)),
    path("admin/<path:unknown>", AdminNotFoundView.as_view()),
    path("users", users.UsersView.as_view()),
    path("users/<int:member_id>", users.UserView.as_view()),
]
