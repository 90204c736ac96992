"""The addresses that are also answered without their prefix (spec 1.2).

Each answers exactly as written and below /api, by the view of its canonical
address; none is documented (spec 1.2).
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

_PATH_CONVERTER_RE = re.compile(r"<\w+:(\w+)>")

paths_without_api_prefix = [
    path("auth/verify-password", VerifyPasswordView.as_view()),
    path("auth/profile", ProfileView.as_view()),
    path("auth/points", PointsView.as_view()),
    path("auth/signup-enabled", SignupEnabledView.as_view()),
    path("account/entries/parse", ledger.parse_notification),
    path("account/categories/import", ledger.import_categories),
    path("account/quick-entries", ledger.quick_entries),
    path("account/quick-entries/reorder", ledger.reorder_quick_entries),
    path("account/quick-entries/<int:quick_entry_id>", ledger.quick_entry),
    path("board/posts/<int:post_id>/vote", board.post_vote_view),
    path("board/comments/<int:comment_id>/vote", board.comment_vote_view),
    path("board/posts/<int:post_id>/recommenders", board.recommenders_view),
    path("board/my/posts", board.own_posts_view),
    path("board/my/comments", board.own_comments_view),
]
"""Below /api these are the canonical addresses."""

paths_without_app_prefix = [
    path("entries/notification", ledger.process_notification),
    path("entries/<int:entry_id>/confirm", ledger.confirm_entry),
    path("entries/pending/count", ledger.count_pending),
    path("networth/trend", ledger.networth_trend),
    path("budgets/copy", ledger.copy_budgets),
    path("tags/reorder", ledger.reorder_tags),
    path("trades/<int:trade_id>", ledger.trade),
    path("posts/<int:post_id>/notice", board.set_notice_view),
    path("posts/<int:post_id>/unnotice", board.clear_notice_view),
]
"""These answer below /api as well."""

urlpatterns = [*paths_without_api_prefix, *paths_without_app_prefix]


def exclude_alias_urls(endpoints: Sequence[Endpoint], **_: Any) -> list[Endpoint]:
    """Only canonical addresses are documented (spec 1.2)."""
    aliases = {
        API_PREFIX + _PATH_CONVERTER_RE.sub(r"{\1}", str(alias.pattern))
        for alias in paths_without_app_prefix
    }
    return [
        endpoint
        for endpoint in endpoints
        if endpoint[0].startswith(API_PREFIX) and endpoint[0] not in aliases
    ]
