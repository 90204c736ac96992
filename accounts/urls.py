"""The addresses of the accounts app, below /api."""

from django.urls import include, path

from accounts.views import avatars, profile, sessions

auth_urls = [
    path("session", sessions.SessionView.as_view()),
    path("signup", sessions.SignupView.as_view()),
    path("signup-enabled", sessions.SignupEnabledView.as_view()),
    path("login", sessions.LoginView.as_view()),
    path("idp", sessions.IdpLoginView.as_view()),
    path("idp-client-id", sessions.IdpClientIdView.as_view()),
    path("logout", sessions.LogoutView.as_view()),
    path("profile", profile.ProfileView.as_view()),
    path("profile-image", profile.ProfileImageView.as_view()),
    path("verify-password", profile.VerifyPasswordView.as_view()),
    path("password", profile.PasswordView.as_view()),
    path("points", profile.PointsView.as_view()),
    path("me", profile.DeleteAccountView.as_view()),
]

urlpatterns = [
    path("auth/", include(auth_urls)),
    path("members/<int:member_id>/avatar", avatars.AvatarView.as_view()),
]
