"""Pages of accounts, below /account."""

from django.urls import path

from accounts.codes.deletion_page import DeleteAccountPage
from accounts.codes.pages import ConfirmEmailPage, ResetPasswordPage

urlpatterns = [
    path("confirm", ConfirmEmailPage.as_view(), name="confirm-email-page"),
    path("delete", DeleteAccountPage.as_view(), name="delete-account-page"),
    path("reset", ResetPasswordPage.as_view(), name="reset-password-page"),
]
