"""Votes on posts and comments, and who recommends a post."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import current_member
from board import comments, post_list, posts, voting
from board.serializers.posts import (
    AuthorSerializer,
    VoteRequestSerializer,
    VoteResultSerializer,
)
from board.voting import VoteRequest
from core.api.permissions import IsMember
from core.api.serializers import validate_body


class PostVoteViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(request=VoteRequestSerializer, responses=VoteResultSerializer)
    def vote(self, request: Request, post_id: int) -> Response:
        """Toggle or set the caller's vote on a post."""
        posts.get_post(post_id)
        ballot = parse_vote_request(request)
        return vote_response(
            voting.vote_on_post(current_member(request), post_id, ballot)
        )

    @extend_schema(responses=AuthorSerializer(many=True))
    def recommenders(self, request: Request, post_id: int) -> Response:
        """The members who voted a post up, first ones first."""
        posts.get_post(post_id)
        return Response(post_list.list_recommenders(post_id))


class CommentVoteViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(request=VoteRequestSerializer, responses=VoteResultSerializer)
    def vote(self, request: Request, comment_id: int) -> Response:
        """Toggle or set the caller's vote on a comment."""
        comments.get_comment(comment_id)
        ballot = parse_vote_request(request)
        tally = voting.vote_on_comment(current_member(request), comment_id, ballot)
        return vote_response(tally)


def parse_vote_request(request: Request) -> VoteRequest:
    body = validate_body(VoteRequestSerializer, request)
    return VoteRequest(value=body.get("value"), state=body.get("set"))


def vote_response(tally: voting.VoteResult) -> Response:
    return Response(
        {
            "upCount": tally.up_count,
            "downCount": tally.down_count,
            "myVote": tally.my_vote,
        }
    )
