"""Votes on posts and comments, and who recommends a post."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import member_of
from board import post_list, posts, voting
from board.serializers.posts import AuthorBody, BallotBody, TallyBody
from board.voting import Ballot
from core.api.fields import read_body
from core.api.permissions import IsMember


class PostVoteViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(request=BallotBody, responses=TallyBody)
    def vote(self, request: Request, post_id: int) -> Response:
        """Toggle or set the caller's vote on a post."""
        posts.find_post(post_id)
        ballot = read_ballot(request)
        return answer_tally(voting.vote_on_post(member_of(request), post_id, ballot))

    @extend_schema(responses=AuthorBody(many=True))
    def recommenders(self, request: Request, post_id: int) -> Response:
        """The members who voted a post up, first ones first."""
        posts.find_post(post_id)
        return Response(post_list.read_recommenders(post_id))


class CommentVoteViewSet(ViewSet):
    permission_classes = [IsMember]

    @extend_schema(request=BallotBody, responses=TallyBody)
    def vote(self, request: Request, comment_id: int) -> Response:
        """Toggle or set the caller's vote on a comment."""
        posts.find_comment(comment_id)
        ballot = read_ballot(request)
        tally = voting.vote_on_comment(member_of(request), comment_id, ballot)
        return answer_tally(tally)


def read_ballot(request: Request) -> Ballot:
    body = read_body(BallotBody, request)
    return Ballot(value=body.get("value"), state=body.get("set"))


def answer_tally(tally: voting.Tally) -> Response:
    return Response(
        {
            "upCount": tally.up_count,
            "downCount": tally.down_count,
            "myVote": tally.my_vote,
        }
    )
