"""The post list as two peers write it: a DRF viewset, and one SQL statement.

Both authenticate as the service does and have the same fields.
"""

from datetime import timedelta
from typing import Any

import orjson
from django.db import connection
from django.db.models import BooleanField, ExpressionWrapper, OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.pagination import PageNumberPagination
from rest_framework.viewsets import ModelViewSet

from accounts.authentication import extract_session_key
from accounts.avatars import avatar_url
from accounts.models import Member
from accounts.sessions import find_session
from board.models import Post, PostVote

PAGE_SIZE, MAX_HOT_AGE = 20, timedelta(days=1)
VOTES = {1: "up", -1: "down", None: None}

# Page 1: hot posts, notices, the rest; then authors, the reader's votes, the count.
_FIRST_PAGE = """
    WITH hot AS MATERIALIZED (
        SELECT id, row_number() OVER (ORDER BY up_count DESC, id DESC) AS rank
        FROM board_post
        WHERE is_popular AND NOT is_hidden AND created_at >= %(hot_since)s
        ORDER BY rank LIMIT 3
    ), page AS (
        SELECT id, 0 AS part, rank FROM hot
        UNION ALL
        (SELECT id, 1, -id FROM board_post
         WHERE is_notice AND NOT is_hidden AND id <> ALL (ARRAY(SELECT id FROM hot))
         ORDER BY id DESC LIMIT %(size)s)
        UNION ALL
        (SELECT id, 2, -id FROM board_post
         WHERE NOT is_notice AND NOT is_hidden
           AND id <> ALL (ARRAY(SELECT id FROM hot))
         ORDER BY id DESC LIMIT %(size)s)
        ORDER BY part, rank LIMIT %(size)s
    )
    SELECT p.id, p.title, p.category, p.tags, p.is_notice,
        p.is_popular AND p.created_at >= %(hot_since)s, p.up_count, p.down_count,
        p.comment_count, v.value, m.id, m.display_name, m.avatar_version,
        m.idp_picture, p.created_at,
        (SELECT coalesce(sum(posts), 0)::bigint FROM board_post_count)
    FROM page JOIN board_post p ON p.id = page.id JOIN member m ON m.id = p.member_id
    LEFT JOIN board_post_vote v ON v.post_id = p.id AND v.member_id = %(member)s
    ORDER BY part, rank
"""


def list_first_page(request: HttpRequest) -> HttpResponse:
    """Return page 1 by one statement, without DRF."""
    presented = extract_session_key(request)
    session = presented and find_session(presented.key)
    if not session or session.member is None or not session.member.is_active:
        return HttpResponse(status=401)
    params: dict[str, Any] = {
        "hot_since": timezone.now() - MAX_HOT_AGE,
        "size": PAGE_SIZE,
        "member": session.member.pk,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FIRST_PAGE, params)
        rows = cursor.fetchall()
    count = rows[0][-1] if rows else 0
    next_url = request.build_absolute_uri("?page=2") if count > PAGE_SIZE else None
    body = {
        "count": count,
        "next": next_url,
        "previous": None,
        "results": [
            {
                "id": row[0],
                "title": row[1],
                "category": row[2],
                "tags": row[3],
                "notice": row[4],
                "hot": row[5],
                "upCount": row[6],
                "downCount": row[7],
                "commentCount": row[8],
                "myVote": VOTES[row[9]],
                "author": {
                    "id": row[10],
                    "displayName": row[11],
                    "avatar": avatar_url(row[10], row[12], row[13]),
                },
                "createdAt": row[14],
            }
            for row in rows
        ],
    }
    return HttpResponse(orjson.dumps(body), content_type="application/json")


class AuthorSerializer(serializers.ModelSerializer[Member]):
    displayName = serializers.CharField(source="display_name")  # noqa: N815
    avatar = serializers.SerializerMethodField()

    class Meta:
        model = Member
        fields = ["id", "displayName", "avatar"]

    def get_avatar(self, member: Member) -> str | None:
        return avatar_url(member.pk, member.avatar_version, member.idp_picture)


class PostSerializer(serializers.ModelSerializer[Post]):
    notice = serializers.BooleanField(source="is_notice")
    hot = serializers.BooleanField()
    upCount = serializers.IntegerField(source="up_count")  # noqa: N815
    downCount = serializers.IntegerField(source="down_count")  # noqa: N815
    commentCount = serializers.IntegerField(source="comment_count")  # noqa: N815
    myVote = serializers.SerializerMethodField()  # noqa: N815
    author = AuthorSerializer(source="member")
    createdAt = serializers.DateTimeField(source="created_at")  # noqa: N815

    class Meta:
        model = Post
        fields = [
            *("id", "title", "category", "tags", "notice", "hot", "upCount"),
            *("downCount", "commentCount", "myVote", "author", "createdAt"),
        ]

    def get_myVote(self, post: Any) -> str | None:  # noqa: N802
        return VOTES[post.my_vote]


class PostPagination(PageNumberPagination):
    page_size = PAGE_SIZE
    page_size_query_param = "size"
    max_page_size = 100


class PostViewSet(ModelViewSet[Post]):
    """Notices, then the rest: one COUNT(*), and one statement for a page.

    Hot posts are marked and not put first.
    """

    serializer_class = PostSerializer
    pagination_class = PostPagination

    def get_queryset(self) -> Any:
        member: Any = self.request.user
        votes = PostVote.objects.filter(post=OuterRef("pk"), member=member)
        hot = Q(is_popular=True, created_at__gte=timezone.now() - MAX_HOT_AGE)
        posts = Post.objects.filter(is_hidden=False).select_related("member")
        return (
            posts.annotate(
                hot=ExpressionWrapper(hot, output_field=BooleanField()),
                my_vote=Subquery(votes.values("value")),
            )
            .only(
                *("title", "category", "tags", "is_notice", "up_count", "down_count"),
                *("comment_count", "created_at", "member__display_name"),
                *("member__avatar_version", "member__idp_picture"),
            )
            .order_by("-is_notice", "-id")
        )
