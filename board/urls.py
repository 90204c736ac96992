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

post_vote_view = PostVoteViewSet.as_view(VOTE)
comment_vote_view = CommentVoteViewSet.as_view(VOTE)
recommenders_view = PostVoteViewSet.as_view(RECOMMENDERS)
own_posts_view = MyPostViewSet.as_view(LIST)
own_comments_view = MyCommentViewSet.as_view(LIST)
set_notice_view = NoticeViewSet.as_view({"post": "notice"})
clear_notice_view = NoticeViewSet.as_view({"post": "unnotice"})

urlpatterns = [
    path("posts", PostViewSet.as_view(COLLECTION)),
    path("posts/<int:post_id>", PostViewSet.as_view(POST)),
    path("posts/<int:post_id>/comments", CommentViewSet.as_view(COLLECTION)),
    path("posts/<int:post_id>/vote", post_vote_view),
    path("posts/<int:post_id>/recommenders", recommenders_view),
    path("posts/<int:post_id>/notice", set_notice_view),
    path("posts/<int:post_id>/unnotice", clear_notice_view),
    path("comments/<int:comment_id>", CommentViewSet.as_view(COMMENT)),
    path("comments/<int:comment_id>/vote", comment_vote_view),
    path("images", ImagesView.as_view()),
    path("my/posts", own_posts_view),
    path("my/comments", own_comments_view),
]
