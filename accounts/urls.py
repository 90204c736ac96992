"""URLs of the accounts app, below /api."""

from django.urls import include, path

from accounts.views.avatars import AvatarView
from accounts.views.codes import (
    ConfirmEmailView,
    ConfirmPasswordResetView,
    EmailVerificationView,
    PasswordResetView,
)
from accounts.views.factors import (
    FactorsView,
    RecoveryCodesView,
    TotpConfirmationView,
    TotpView,
)
from accounts.views.own_sessions import (
    EndOtherSessionsView,
    SecurityEventsView,
    SessionDetailView,
    SessionListView,
)
from accounts.views.profile import (
    AccountView,
    PasswordView,
    PointsView,
    ProfileImageView,
    ProfileView,
    VerifyPasswordView,
)
from accounts.views.reauthentication import ReauthenticationView
from accounts.views.sessions import (
    IdpClientIdView,
    IdpLoginView,
    LoginView,
    LogoutView,
    SecondFactorLoginView,
    SessionView,
    SignupEnabledView,
    SignupView,
)
from accounts.views.tokens import PersonalTokenListView, PersonalTokenView

auth_urls = [
    path("session", SessionView.as_view(), name="session"),
    path("signup", SignupView.as_view(), name="signup"),
    path("signup-enabled", SignupEnabledView.as_view(), name="signup-enabled"),
    path(
        "login/second-factor",
        SecondFactorLoginView.as_view(),
        name="second-factor-login",
    ),
    path("login", LoginView.as_view(), name="login"),
    path("idp", IdpLoginView.as_view(), name="idp-login"),
    path("idp-client-id", IdpClientIdView.as_view(), name="idp-client-id"),
    path("sessions", SessionListView.as_view(), name="sessions"),
    path(
        "sessions/end-others", EndOtherSessionsView.as_view(), name="end-other-sessions"
    ),
    path("sessions/<uuid:session_id>", SessionDetailView.as_view(), name="own-session"),
    path("security-events", SecurityEventsView.as_view(), name="security-events"),
    path("tokens", PersonalTokenListView.as_view(), name="tokens"),
    path("tokens/<uuid:token_id>", PersonalTokenView.as_view(), name="token"),
    path("factors", FactorsView.as_view(), name="factors"),
    path("factors/totp", TotpView.as_view(), name="totp"),
    path(
        "factors/totp/confirm", TotpConfirmationView.as_view(), name="totp-confirmation"
    ),
    path("factors/recovery-codes", RecoveryCodesView.as_view(), name="recovery-codes"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("profile", ProfileView.as_view(), name="profile"),
    path("profile-image", ProfileImageView.as_view(), name="profile-image"),
    path("verify-password", VerifyPasswordView.as_view(), name="verify-password"),
    path("reauthenticate", ReauthenticationView.as_view(), name="reauthenticate"),
    path("password", PasswordView.as_view(), name="password"),
    path(
        "email/verification", EmailVerificationView.as_view(), name="email-verification"
    ),
    path(
        "email/verification/confirm", ConfirmEmailView.as_view(), name="confirm-email"
    ),
    path("password-reset", PasswordResetView.as_view(), name="password-reset"),
    path(
        "password-reset/confirm",
        ConfirmPasswordResetView.as_view(),
        name="confirm-password-reset",
    ),
    path("points", PointsView.as_view(), name="points"),
    path("me", AccountView.as_view(), name="account"),
]

urlpatterns = [
    path("auth/", include(auth_urls)),
    path("members/<int:member_id>/avatar", AvatarView.as_view(), name="avatar"),
]
