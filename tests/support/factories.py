"""Plain functions that build rows; everything has a sensible default."""

import functools
import itertools
from datetime import date
from typing import Any

import orjson
from django.db import connection
from django.utils import timezone

from accounts.models import Member
from board.models import Comment, CommentVote, Post, PostVote
from card_alerts import (
    Confidence,
    Doubt,
    Kind,
    NameCandidate,
    ParseResult,
    Reason,
)
from core.sealing import seal
from ledger.entries.merges import merge_entries
from ledger.models import (
    Budget,
    Card,
    Category,
    Entry,
    EntryTag,
    QuickEntry,
    RecurringRule,
    Stock,
    Tag,
    TaughtLayout,
    Trade,
    UnsureText,
    Wallet,
)
from ledger.notifications.would_be import dump_payment

PASSWORD = "correct-horse-9"
_numbers = itertools.count(1)


def make_member(**fields: Any) -> Member:
    number = next(_numbers)
    password = fields.pop("password", PASSWORD)
    member = Member(
        **{
            "login_id": f"member{number}",
            "display_name": f"Member {number}",
            "email": f"member{number}@example.com",
        }
        | fields
    )
    member.set_password(password)
    member.save()
    return member


def make_wallet(member: Member, **fields: Any) -> Wallet:
    number = next(_numbers)
    defaults = {"name": f"Wallet {number}", "kind": "CASH", "sort_order": number}
    return Wallet.objects.create(member=member, **defaults | fields)


def make_category(member: Member, **fields: Any) -> Category:
    number = next(_numbers)
    defaults = {"name": f"Category {number}", "type": "expense", "sort_order": number}
    return Category.objects.create(member=member, **defaults | fields)


def make_tag(member: Member, **fields: Any) -> Tag:
    number = next(_numbers)
    defaults = {"name": f"tag{number}", "sort_order": number}
    return Tag.objects.create(member=member, **defaults | fields)


def make_entry(member: Member, *, tags: tuple[str, ...] = (), **fields: Any) -> Entry:
    defaults = {"date": date(2026, 11, 2), "type": "expense", "amount": 1_000}
    entry = Entry.objects.create(member=member, **defaults | fields)
    for position, name in enumerate(tags):
        tag, _ = Tag.objects.get_or_create(member=member, name=name)
        EntryTag.objects.create(
            entry=entry, tag=tag, member_id=member.pk, position=position
        )
    return entry


def make_merged_entry(member: Member, source: Wallet, target: Wallet) -> Entry:
    expense = make_entry(member, wallet=source)
    income = make_entry(member, type="income", wallet=target)
    merge_entries(member, expense.pk, income.pk, timezone.now())
    return expense


def make_quick_entry(member: Member, **fields: Any) -> QuickEntry:
    number = next(_numbers)
    defaults = {"name": f"Quick {number}", "type": "expense", "sort_order": number}
    return QuickEntry.objects.create(member=member, **defaults | fields)


def make_layout(member: Member, **fields: Any) -> TaughtLayout:
    number = next(_numbers)
    defaults = {
        "sender": "15447200",
        "template": f"pattern {number}",
        "template_digest": f"{number:064}",
        "created_at": timezone.now(),
    }
    return TaughtLayout.objects.create(member=member, **defaults | fields)


def make_unsure_text(member: Member, **fields: Any) -> UnsureText:
    """Create a text that would be a payment of 8,000 won at 소라분식."""
    number = next(_numbers)
    text = "[식권] 7890 소라분식 에서 8,000냥 썼어요"
    payment = ParseResult(
        recognized=True,
        kind=Kind.APPROVAL,
        amount=8_000,
        merchant="소라분식",
        merchant_confidence=Confidence.GUESS,
        card_hint="7890",
        spans={"merchant": (10, 14), "amount": (18, 23)},
        doubts=(Doubt.KIND, Doubt.MERCHANT),
        candidates=(NameCandidate("소라분식", (10, 14)),),
    )
    now = timezone.now()
    defaults = {"notif_key": f"key {number}", "created_at": now}
    row = UnsureText(member=member, **defaults | fields)
    plain = {
        "text": text,
        "sender": "온누리식권",
        "receivedAt": row.created_at,
        "reason": Reason.NO_PAYMENT,
        "walletId": None,
        "payment": dump_payment(payment),
    }
    row.sealed = seal(orjson.dumps(plain), row.sealing_context)
    row.save(force_insert=True)
    return row


def make_budget(member: Member, **fields: Any) -> Budget:
    category = fields.pop("category", None) or make_category(member)
    defaults = {"year": 2026, "month": 11, "amount": 10_000}
    return Budget.objects.create(member=member, category=category, **defaults | fields)


def make_card_settings(wallet: Wallet, **fields: Any) -> Card:
    """Create settings with bills of whole months, paid on the 14th."""
    term = {
        "from": "2026-01",
        "closingDay": 31,
        "paymentDay": 14,
        "paymentMonth": 1,
        "shift": "NEXT",
    }
    if fields.get("auto_pay"):
        fields = {"next_payment_on": date(2026, 12, 14)} | fields
    return Card.objects.create(
        member_id=wallet.member_id, id=wallet.pk, **({"terms": [term]} | fields)
    )


def make_rule(member: Member, **fields: Any) -> RecurringRule:
    """Create a rule whose next due date is its anchor."""
    number = next(_numbers)
    anchor = fields.setdefault("anchor_date", date(2026, 11, 2))
    defaults = {
        "name": f"Rule {number}",
        "type": "expense",
        "amount": 1_000,
        "frequency": "MONTHLY",
        "next_date": anchor,
    }
    return RecurringRule.objects.create(member=member, **defaults | fields)


def make_stock(member: Member, **fields: Any) -> Stock:
    number = next(_numbers)
    defaults = {"code": f"S{number}", "name": f"Stock {number}", "sort_order": number}
    return Stock.objects.create(member=member, **defaults | fields)


def make_trade(member: Member, **fields: Any) -> Trade:
    """Create a buy of ten shares at 100 each, of a new stock unless one is given."""
    stock = fields.pop("stock", None) or make_stock(member)
    defaults = {"side": "BUY", "date": date(2026, 11, 2), "quantity": 10, "price": 100}
    return Trade.objects.create(member=member, stock=stock, **defaults | fields)


def make_post(member: Member, *, ups: int = 0, downs: int = 0, **fields: Any) -> Post:
    """Create a post with votes of members who are made for it."""
    number = next(_numbers)
    defaults = {"title": f"Post {number}", "content": "<p>Words</p>"}
    defaults |= {"category": "community", "search_text": f"post {number} words"}
    post = Post.objects.create(member=member, **defaults | fields)
    PostVote.objects.bulk_create(
        PostVote(post=post, member=voter, value=value)
        for voter, value in make_voters(ups, downs)
    )
    post.refresh_from_db()
    return post


def make_comment(
    member: Member | None, *, ups: int = 0, downs: int = 0, **fields: Any
) -> Comment:
    """Create a comment with votes, below a new post unless one is given."""
    post = fields.pop("post", None) or make_post(make_member())
    defaults = {"content": f"Comment {next(_numbers)}"}
    comment = Comment.objects.create(member=member, post=post, **defaults | fields)
    CommentVote.objects.bulk_create(
        CommentVote(comment=comment, member=voter, value=value)
        for voter, value in make_voters(ups, downs)
    )
    comment.refresh_from_db()
    return comment


def make_voters(ups: int, downs: int) -> list[tuple[Member, int]]:
    """Create members who cannot log in; return each with a vote."""
    numbers = [next(_numbers) for _ in range(ups + downs)]
    voters = Member.objects.bulk_create(
        Member(login_id=f"voter{n}", display_name=f"Voter {n}", password="!")
        for n in numbers
    )
    return list(zip(voters, [1] * ups + [-1] * downs, strict=True))


def count_rows_of(member: Member) -> dict[str, int]:
    """Count the rows that name this member, by table."""
    with connection.cursor() as cursor:
        cursor.execute(*query_tables_of(member, "count(*)"))
        return dict(cursor.fetchall())


def dump_rows_of(member: Member) -> dict[str, str | None]:
    """Return the rows that name this member, by table, as text."""
    rows = "string_agg(to_jsonb(t)::text, '\n' ORDER BY to_jsonb(t)::text)"
    with connection.cursor() as cursor:
        cursor.execute(*query_tables_of(member, rows))
        return dict(cursor.fetchall())


def query_tables_of(member: Member, columns: str) -> tuple[str, dict[str, int]]:
    """Return a statement that reads all tables with a column `member_id`."""
    selects = (
        f"SELECT '{table}', {columns} FROM \"{table}\" t WHERE member_id = %(member)s"
        for table in list_tables_of_members()
    )
    return " UNION ALL ".join(selects), {"member": member.pk}


@functools.cache
def list_tables_of_members() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND column_name = 'member_id'"
        )
        return [name for (name,) in cursor.fetchall()]
