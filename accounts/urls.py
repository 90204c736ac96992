"""URLs of the accounts app, below /api."""

from django.urls import include, path

from accounts.views import (
    codes,
    factors,
    own_sessions,
    profile,
    reauthentication,
    sessions,
    tokens,
)
from accounts.views.avatars import AvatarView

auth_urls = [
    path("session", sessions.SessionView.as_view(), name="session"),
    path("signup", sessions.SignupView.as_view(), name="signup"),
    path("signup-enabled", sessions.SignupEnabledView.as_view(), name="signup-enabled"),
    path(
        "login/second-factor",
        sessions.SecondFactorLoginView.as_view(),
        name="second-factor-login",
    ),
    path("login", sessions.LoginView.as_view(), name="login"),
    path("idp", sessions.IdpLoginView.as_view(), name="idp-login"),
    path("idp-client-id", sessions.IdpClientIdView.as_view(), name="idp-client-id"),
    path("sessions", own_sessions.SessionListView.as_view(), name="sessions"),
    path(
        "sessions/end-others",
        own_sessions.EndOtherSessionsView.as_view(),
        name="end-other-sessions",
    ),
    path(
        "sessions/<uuid:session_id>",
        own_sessions.SessionDetailView.as_view(),
        name="own-session",
    ),
    path(
        "security-events",
        own_sessions.SecurityEventsView.as_view(),
        name="security-events",
    ),
    path("tokens", tokens.PersonalTokenListView.as_view(), name="tokens"),
    path(
        "tokens/<uuid:token_id>",
        tokens.PersonalTokenView.as_view(),
        name="token",
    ),
    path("factors", factors.FactorsView.as_view(), name="factors"),
    path("factors/totp", factors.TotpView.as_view(), name="totp"),
    path(
        "factors/totp/confirm",
        factors.TotpConfirmationView.as_view(),
        name="totp-confirmation",
    ),
    path(
        "factors/recovery-codes",
        factors.RecoveryCodesView.as_view(),
        name="recovery-codes",
    ),
    path("logout", sessions.LogoutView.as_view(), name="logout"),
    path("profile", profile.ProfileView.as_view(), name="profile"),
    path("profile-image", profile.ProfileImageView.as_view(), name="profile-image"),
    path(
        "verify-password", profile.VerifyPasswordView.as_view(), name="verify-password"
    ),
    path(
        "reauthenticate",
        reauthentication.ReauthenticationView.as_view(),
        name="reauthenticate",
    ),
    path("password", profile.PasswordView.as_view(), name="password"),
    path(
        "email/verification",
        codes.EmailVerificationView.as_view(),
        name="email-verification",
    ),
    path(
        "email/verification/confirm",
        codes.ConfirmEmailView.as_view(),
        name="confirm-email",
    ),
    path("password-reset", codes.PasswordResetView.as_view(), name="password-reset"),
    path(
        "password-reset/confirm",
        codes.ConfirmPasswordResetView.as_view(),
        name="confirm-password-reset",
    ),
    path("points", profile.PointsView.as_view(), name="points"),
    path("me", profile.AccountView.as_view(), name="account"),
]

urlpatterns = [
    path("auth/", include(auth_urls)),
    path("members/<int:member_id>/avatar", AvatarView.as_view(), name="avatar"),
]
