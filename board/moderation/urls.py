"""URLs of moderation, below /api."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from board.moderation.appeal_views import AppealView, InboxCaseView
from board.moderation.report_views import MemberReportViewSet
from board.moderation.views import (
    CaseViewSet,
    HideCommentView,
    HidePostView,
    ModerationFiguresView,
    ShowCommentView,
    ShowPostView,
    SilenceView,
)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("cases", CaseViewSet, "case")

moderation_urls = [
    *router.urls,
    path("posts/<int:post_id>/hide", HidePostView.as_view(), name="hide-post"),
    path("posts/<int:post_id>/show", ShowPostView.as_view(), name="show-post"),
    path(
        "comments/<int:comment_id>/hide", HideCommentView.as_view(), name="hide-comment"
    ),
    path(
        "comments/<int:comment_id>/show", ShowCommentView.as_view(), name="show-comment"
    ),
    path("members/<int:member_id>/silence", SilenceView.as_view(), name="silence"),
]

urlpatterns = [
    path("moderation/", include(moderation_urls)),
    path(
        "members/<int:member_id>/report",
        MemberReportViewSet.as_view({"post": "create", "delete": "destroy"}),
        name="member-report",
    ),
    path("inbox/<int:item_id>/case", InboxCaseView.as_view(), name="inbox-case"),
    path("inbox/<int:item_id>/appeal", AppealView.as_view(), name="appeal"),
    path(
        "admin/moderation-figures",
        ModerationFiguresView.as_view(),
        name="moderation-figures",
    ),
]
