"""The addresses of the administrators' area, below /api."""

from django.urls import path

from administration import views

urlpatterns = [
    path("admin/signup-enabled", views.SignupSwitchView.as_view()),
]
