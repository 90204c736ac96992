"""`check_board_counters` finds wrong counters and rebuilds them."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from accounts.models import Member
from board.counter_audit import ROLLUPS
from board.models import Comment, Post, PostCount
from core.db.rollup_audit import count_drift
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post

TABLES = ["board_post", "board_comment", "member", "board_post_count"]
pytestmark = pytest.mark.django_db(transaction=True)


def make_board() -> None:
    """Create posts, comments, votes, some of them hidden, and an award."""
    member = make_member()
    body = {"title": "Rice", "content": "Rice", "category": "tips"}
    JSONClient(member).send("POST", "/api/board/posts", body)
    post = make_post(member, ups=3, downs=2)
    make_post(member, ups=1, is_hidden=True, category="saving")
    make_comment(member, post=post, ups=2, downs=1)
    make_comment(member, post=post, is_hidden=True)


def run(*words: Any) -> Any:
    """Return the output of the command; raise `CommandError` if it fails."""
    output = StringIO()
    call_command("check_board_counters", *words, stdout=output)
    return output.getvalue()


def test_right_counters_show_no_drift() -> None:
    make_board()
    assert run() == "".join(f"{table}: 0 differ\n" for table in TABLES)


@pytest.mark.parametrize(
    ("table", "model", "values"),
    [
        ("board_post", Post, {"up_count": 9}),
        ("board_post", Post, {"down_count": 9}),
        ("board_post", Post, {"comment_count": 9}),
        ("board_comment", Comment, {"up_count": 9}),
        ("member", Member, {"points": 5}),
        ("board_post_count", PostCount, {"posts": 7}),
    ],
)
def test_drift_is_found_and_repaired(
    table: str, model: Any, values: dict[str, Any]
) -> None:
    make_board()
    model.objects.filter(pk=model.objects.latest("pk").pk).update(**values)
    assert count_drift(ROLLUPS) == dict.fromkeys(TABLES, 0) | {table: 1}
    with pytest.raises(CommandError):
        run()
    assert f"{table}: 1 repaired" in run("--repair")
    assert set(count_drift(ROLLUPS).values()) == {0}


def test_changes_with_disabled_triggers_are_repaired() -> None:
    make_board()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("DELETE FROM board_post_vote")
        cursor.execute("DELETE FROM board_comment")
        cursor.execute(
            "UPDATE board_post SET category = 'tips', is_hidden = false,"
            " hidden_reason = NULL"
        )
    run("--repair")
    assert set(count_drift(ROLLUPS).values()) == {0}
    assert {post.up_count for post in Post.objects.all()} == {0}
    assert PostCount.objects.get(category="tips").posts == 3
