"""The addresses of the board, below /api/board."""

from typing import Any

from django.urls import path

from board.views.comments import CommentViewSet, MyCommentViewSet
from board.views.images import ImagesView
from board.views.posts import MyPostViewSet, NoticeViewSet, PostViewSet
from board.views.votes import CommentVoteViewSet, PostVoteViewSet

COLLECTION: dict[str, Any] = {"get": "list", "post": "create"}
POST: dict[str, Any] = {
    "get": "retrieve",
    "put": "update",
    "patch": "partial_update",
    "delete": "destroy",
}
COMMENT: dict[str, Any] = {"put": "update", "delete": "destroy"}
LIST: dict[str, Any] = {"get": "list"}
VOTE: dict[str, Any] = {"post": "vote"}
RECOMMENDERS: dict[str, Any] = {"get": "recommenders"}

vote_on_post = PostVoteViewSet.as_view(VOTE)
vote_on_comment = CommentVoteViewSet.as_view(VOTE)
list_recommenders = PostVoteViewSet.as_view(RECOMMENDERS)
list_own_posts = MyPostViewSet.as_view(LIST)
list_own_comments = MyCommentViewSet.as_view(LIST)
set_notice = NoticeViewSet.as_view({"post": "notice"})
end_notice = NoticeViewSet.as_view({"post": "unnotice"})

urlpatterns = [
    path("posts", PostViewSet.as_view(COLLECTION)),
    path("posts/<int:post_id>", PostViewSet.as_view(POST)),
    path("posts/<int:post_id>/comments", CommentViewSet.as_view(COLLECTION)),
    path("posts/<int:post_id>/vote", vote_on_post),
    path("posts/<int:post_id>/recommenders", list_recommenders),
    path("posts/<int:post_id>/notice", set_notice),
    path("posts/<int:post_id>/unnotice", end_notice),
    path("comments/<int:comment_id>", CommentViewSet.as_view(COMMENT)),
    path("comments/<int:comment_id>/vote", vote_on_comment),
    path("images", ImagesView.as_view()),
    path("my/posts", list_own_posts),
    path("my/comments", list_own_comments),
]
