"""Account deletion removes all data of the member and none of other members."""

from datetime import datetime

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType

from accounts.models import Member, PointHistory
from billing.models import Purchase
from billing.stores import hash_token
from board.models import CommentVote, Image, PostVote
from ledger.models import (
    BudgetIncome,
    Notification,
    Occurrence,
    QuickEntryTag,
    RecurringTag,
)
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import (
    PASSWORD,
    count_rows_of,
    make_budget,
    make_category,
    make_comment,
    make_entry,
    make_post,
    make_quick_entry,
    make_rule,
    make_tag,
    make_trade,
    make_wallet,
)

PATH = "/api/auth/me"
ME = "/api/auth/session"
NOON = datetime.fromisoformat("2026-11-20T12:00:00+09:00")


def give_everything(member: Member) -> None:
    """Rows in every table that names a member; a new table needs a line here."""
    wallet = make_wallet(member)
    major = make_category(member)
    make_category(member, parent=major)
    make_entry(member, wallet=wallet, category=major, tags=("food", "out"))
    make_entry(member, wallet=wallet, category=major, pending=True)
    make_entry(member, type="income")
    quick = make_quick_entry(member, wallet=wallet, category=major)
    QuickEntryTag.objects.create(
        quick_entry=quick, tag=make_tag(member), member_id=member.pk, position=0
    )
    make_trade(member)
    make_budget(member, category=major)
    BudgetIncome.objects.create(member=member, year=2026, month=11, amount=1)
    give_rule(member, wallet=wallet, category=major)
    give_notification(member)
    give_board(member)
    give_purchase(member)
    PointHistory.objects.create(
        member=member, points=10, reason="POST", created_at=NOON
    )
    JSONClient(member)


def give_rule(member: Member, **fields: object) -> None:
    """Create a recurring rule with a tag and an occurrence."""
    rule = make_rule(member, **fields)
    RecurringTag.objects.create(
        rule=rule, tag=make_tag(member), member_id=member.pk, position=0
    )
    Occurrence.objects.create(
        member=member,
        rule=rule,
        due_date=rule.anchor_date,
        status=Occurrence.Status.BOOKED,
        entry=make_entry(member),
    )


def give_notification(member: Member) -> None:
    """A payment that was announced, and a memo from which a category is learned."""
    Notification.objects.create(
        member=member,
        notif_key="key",
        kind="approval",
        value=1,
        happened_at=NOON,
        is_timed=True,
    )
    make_entry(member, memo="cafe", category=make_category(member))


def give_purchase(member: Member) -> None:
    """A verified order."""
    Purchase.objects.create(
        member=member,
        store="test",
        order_id=f"test-{member.pk}",
        purchase_token=f"test-{member.pk}",
        token_hash=hash_token(f"test-{member.pk}"),
        product_id="premium_monthly",
        purchased_at=NOON,
        expires_at=NOON,
        auto_renew=True,
        checked_at=NOON,
    )


def give_board(member: Member) -> None:
    """Create a post, a comment and votes on another member's post, and an image."""
    make_post(member)
    comment = make_comment(member)
    theirs = make_comment(comment.post.member, post=comment.post)
    PostVote.objects.create(post=comment.post, member=member, value=1)
    CommentVote.objects.create(comment=theirs, member=member, value=-1)
    Image.objects.create(member=member, content=b"x", width=1, height=1, size=1)


def test_every_table_that_names_a_member_is_covered(free_member: Member) -> None:
    give_everything(free_member)
    empty = [table for table, rows in count_rows_of(free_member).items() if not rows]
    assert empty == []


def test_nothing_of_the_member_remains(
    free_member: Member, client_of: ClientOf
) -> None:
    give_everything(free_member)
    response = client_of(free_member).send("DELETE", PATH)
    assert (response.status_code, response.content) == (204, b"")
    assert not any(count_rows_of(free_member).values())
    assert not Member.objects.filter(pk=free_member.pk).exists()


def test_nothing_of_other_members_is_deleted(
    free_member: Member, other_member: Member, client_of: ClientOf
) -> None:
    give_everything(free_member)
    give_everything(other_member)
    before = count_rows_of(other_member)
    assert client_of(free_member).send("DELETE", PATH).status_code == 204
    assert count_rows_of(other_member) == before
    assert Member.objects.filter(pk=other_member.pk).exists()
    assert not Member.objects.filter(pk=free_member.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_all_sessions_are_dead_and_the_cookie_is_taken_back(
    free_member: Member, client_of: ClientOf
) -> None:
    here, phone = client_of(free_member), client_of(free_member)
    for client in (here, phone):
        client.get_json(ME)
    response = here.send("DELETE", PATH)
    assert response.cookies["sessionid"].value == ""
    assert here.send("GET", ME).status_code == 401
    assert phone.send("GET", ME).status_code == 401
    assert here.send("DELETE", PATH).status_code == 401


def test_login_is_gone_and_its_id_is_free_again(
    free_member: Member, client_of: ClientOf
) -> None:
    client_of(free_member).send("DELETE", PATH)
    body = {"loginId": free_member.login_id, "password": PASSWORD}
    assert JSONClient().send("POST", "/api/auth/login", body).status_code == 401
    profile = {"displayName": "Again", "email": "again@example.com"}
    response = JSONClient().send("POST", "/api/auth/signup", body | profile)
    assert response.status_code == 201
    assert response.data["member"]["id"] != free_member.pk


def test_member_without_any_data_can_leave(
    free_member: Member, client_of: ClientOf
) -> None:
    assert client_of(free_member).send("DELETE", PATH).status_code == 204
    assert not Member.objects.exists()


def test_administrator_who_worked_in_the_admin_can_leave(
    administrator: Member, client_of: ClientOf
) -> None:
    LogEntry.objects.create(
        user_id=administrator.pk,
        content_type=ContentType.objects.get_for_model(Member),
        object_id="1",
        object_repr="x",
        action_flag=CHANGE,
    )
    assert client_of(administrator).send("DELETE", PATH).status_code == 204
    assert not Member.objects.exists()
    assert not LogEntry.objects.filter(user_id=administrator.pk).exists()


def test_member_is_not_left_half_deleted_by_a_failure(
    free_member: Member, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_everything(free_member)
    client = client_of(free_member)
    client.get_json(ME)
    before = count_rows_of(free_member)

    def fail(*_: object) -> None:
        raise RuntimeError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr("accounts.account_deletion.revoke_sessions", fail)
        assert client.send("DELETE", PATH).status_code == 500
    assert count_rows_of(free_member) == before
    assert client.send("GET", ME).status_code == 200


def test_leaving_needs_a_login(anonymous: JSONClient) -> None:
    assert anonymous.send("DELETE", PATH).status_code == 401
