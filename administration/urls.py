"""The addresses of the administrators' area, below /api."""

from django.urls import include, path

from administration import views

admin_urls = [
    path("signup-enabled", views.SignupSwitchView.as_view()),
    path("members", views.MembersView.as_view()),
    path("members/<int:member_id>", views.MemberView.as_view()),
    path("members/<int:member_id>/role", views.RoleView.as_view()),
    path("members/<int:member_id>/status", views.StatusView.as_view()),
    path("members/<int:member_id>/plan", views.PlanView.as_view()),
    path("default-categories", views.DefaultCategoriesView.as_view()),
    path("default-categories/reorder", views.DefaultCategoryOrderView.as_view()),
    path("default-categories/<int:category_id>", views.DefaultCategoryView.as_view()),
]

urlpatterns = [path("admin/", include(admin_urls))]
