"""URLs of the board, below /api/board."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from board.moderation.report_views import CommentReportViewSet, PostReportViewSet
from board.views.comments import CommentViewSet, MyCommentViewSet, PostCommentViewSet
from board.views.images import ImageUploadView
from board.views.posts import MyPostViewSet, NoticeViewSet, PostViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("posts", PostViewSet, "post")
router.register("posts", NoticeViewSet, "notice")
router.register("posts/<int:post_id>/comments", PostCommentViewSet, "post-comment")
router.register("comments", CommentViewSet, "comment")
router.register("my/posts", MyPostViewSet, "my-post")
router.register("my/comments", MyCommentViewSet, "my-comment")

urlpatterns = [
    *router.urls,
    path(
        "posts/<int:post_id>/report",
        PostReportViewSet.as_view({"post": "create", "delete": "destroy"}),
        name="post-report",
    ),
    path(
        "comments/<int:comment_id>/report",
        CommentReportViewSet.as_view({"post": "create", "delete": "destroy"}),
        name="comment-report",
    ),
    path("images", ImageUploadView.as_view(), name="image-upload"),
]
