"""The addresses that service.md writes without their prefix.

Each answers exactly as written and below /api, by the view of its canonical
address; none is documented (contract, section 1, Paths).
"""

import re
from collections.abc import Sequence
from typing import Any

from django.urls import path

from accounts.views.profile import PointsView, ProfileView, VerifyPasswordView
from accounts.views.sessions import SignupEnabledView
from board import urls as board
from core.api.openapi import API_PREFIX
from ledger import urls as ledger

Endpoint = tuple[str, str, str, Any]

_CONVERTER = re.compile(r"<\w+:(\w+)>")

without_api = [
    path("auth/verify-password", VerifyPasswordView.as_view()),
    path("auth/profile", ProfileView.as_view()),
    path("auth/points", PointsView.as_view()),
    path("auth/signup-enabled", SignupEnabledView.as_view()),
    path("account/entries/parse", ledger.parse_notification),
    path("account/categories/import", ledger.import_categories),
    path("account/quick-entries", ledger.quick_entries),
    path("account/quick-entries/reorder", ledger.reorder_quick_entries),
    path("account/quick-entries/<int:quick_entry_id>", ledger.quick_entry),
    path("board/posts/<int:post_id>/vote", board.vote_on_post),
    path("board/comments/<int:comment_id>/vote", board.vote_on_comment),
    path("board/posts/<int:post_id>/recommenders", board.list_recommenders),
    path("board/my/posts", board.list_own_posts),
    path("board/my/comments", board.list_own_comments),
]
"""Below /api these are the canonical addresses."""

without_app = [
    path("entries/notification", ledger.take_in_notification),
    path("entries/<int:entry_id>/confirm", ledger.confirm_entry),
    path("entries/pending/count", ledger.count_pending),
    path("networth/trend", ledger.networth_trend),
    path("budgets/copy", ledger.copy_budgets),
    path("tags/reorder", ledger.reorder_tags),
    path("trades/<int:trade_id>", ledger.trade),
    path("posts/<int:post_id>/notice", board.set_notice),
    path("posts/<int:post_id>/unnotice", board.end_notice),
]
"""These answer below /api as well."""

urlpatterns = [*without_api, *without_app]


def leave_out_aliases(endpoints: Sequence[Endpoint], **_: Any) -> list[Endpoint]:
    """Only canonical addresses are documented (contract, section 1, Paths)."""
    aliases = {
        API_PREFIX + _CONVERTER.sub(r"{\1}", str(alias.pattern))
        for alias in without_app
    }
    return [
        endpoint
        for endpoint in endpoints
        if endpoint[0].startswith(API_PREFIX) and endpoint[0] not in aliases
    ]
