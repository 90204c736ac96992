"""The addresses of the accounts app, below /api."""

from django.urls import path

from accounts.views import profile, sessions, users

urlpatterns = [
    path("auth/signup", sessions.SignupView.as_view()),
    path("auth/signup-enabled", sessions.SignupEnabledView.as_view()),
    path("auth/login", sessions.LoginView.as_view()),
    path("auth/idp", sessions.IdentityView.as_view()),
    path("auth/idp-client-id", sessions.ClientIdView.as_view()),
    path("auth/logout", sessions.LogoutView.as_view()),
    path("auth/session", sessions.SessionView.as_view()),
    path("auth/profile", profile.ProfileView.as_view()),
    path("auth/profile-image", profile.ProfileImageView.as_view()),
    path("auth/verify-password", profile.VerifyPasswordView.as_view()),
    path("auth/password", profile.PasswordView.as_view()),
    path("auth/points", profile.PointsView.as_view()),
    path("auth/me", profile.LeaveView.as_view()),
    path("users", users.UsersView.as_view()),
    path("users/<int:member_id>", users.UserView.as_view()),
]
