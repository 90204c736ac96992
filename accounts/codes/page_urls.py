"""Pages of accounts, below /account."""

from django.urls import path

from accounts.codes.pages import ConfirmEmailPage, ResetPasswordPage

urlpatterns = [
    path("confirm", ConfirmEmailPage.as_view(), name="confirm-email-page"),
    path("reset", ResetPasswordPage.as_view(), name="reset-password-page"),
]
