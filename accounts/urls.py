"""URLs of the accounts app, below /api."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from accounts.announcements.views import AnnouncementsView, AnnouncementViewSet
from accounts.blocks.views import BlockListView, BlockView
from accounts.codes.views import (
    ConfirmEmailView,
    EmailVerificationView,
    PasswordResetViewSet,
)
from accounts.inbox.views import (
    InboxCountView,
    InboxItemView,
    InboxReadView,
    InboxSettingsView,
    InboxView,
)
from accounts.legal.views import (
    ConsentsView,
    DocumentViewSet,
    LegalDocumentsView,
)
from accounts.login.factor_views import FactorsView, TotpViewSet
from accounts.login.identity_views import IdentityViewSet
from accounts.login.reauthentication_views import ReauthenticationView
from accounts.login.views import (
    CurrentSessionViewSet,
    IdpLoginView,
    LoginOptionsViewSet,
    LoginView,
    SecondFactorLoginView,
    SignupView,
)
from accounts.profile.avatar_views import AvatarView
from accounts.profile.views import ProfileViewSet
from accounts.sessions.views import SecurityEventsView, SessionViewSet
from accounts.tokens.views import PersonalTokenViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("sessions", SessionViewSet, "session")
router.register("tokens", PersonalTokenViewSet, "token")
router.register("identities", IdentityViewSet, "identity")
router.register("factors", TotpViewSet, "totp")
router.register("", CurrentSessionViewSet, "current-session")
router.register("", LoginOptionsViewSet, "login-options")
router.register("", PasswordResetViewSet, "password-reset")
router.register("", ProfileViewSet, "profile")

auth_urls = [
    *router.urls,
    path("signup", SignupView.as_view(), name="signup"),
    path("login/second-factor", SecondFactorLoginView.as_view(), name="second-step"),
    path("login", LoginView.as_view(), name="login"),
    path("idp", IdpLoginView.as_view(), name="idp-login"),
    path("consents", ConsentsView.as_view(), name="consents"),
    path("blocks", BlockListView.as_view(), name="blocks"),
    path("security-events", SecurityEventsView.as_view(), name="security-events"),
    path("factors", FactorsView.as_view(), name="factors"),
    path("reauthenticate", ReauthenticationView.as_view(), name="reauthenticate"),
    path("email/verification", EmailVerificationView.as_view(), name="verify-email"),
    path(
        "email/verification/confirm", ConfirmEmailView.as_view(), name="confirm-email"
    ),
]

admin_router = SimpleRouter(trailing_slash=False, use_regex_path=False)
admin_router.register("documents", DocumentViewSet, "document")
admin_router.register("announcements", AnnouncementViewSet, "announcement")

inbox_urls = [
    path("", InboxView.as_view(), name="inbox"),
    path("/count", InboxCountView.as_view(), name="inbox-count"),
    path("/read", InboxReadView.as_view(), name="inbox-read"),
    path("/settings", InboxSettingsView.as_view(), name="inbox-settings"),
    path("/<int:item_id>", InboxItemView.as_view(), name="inbox-item"),
]

urlpatterns = [
    path("auth/", include(auth_urls)),
    path("inbox", include(inbox_urls)),
    path("legal/documents", LegalDocumentsView.as_view(), name="legal-documents"),
    path("announcements", AnnouncementsView.as_view(), name="announcements"),
    path("admin/", include(admin_router.urls)),
    path("members/<int:member_id>/block", BlockView.as_view(), name="block"),
    path("members/<int:member_id>/avatar", AvatarView.as_view(), name="avatar"),
]
