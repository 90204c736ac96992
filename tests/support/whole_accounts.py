"""A member with rows in every table that names one."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.codes.codes import make_code, save_code
from accounts.models import (
    AnnouncementMark,
    Block,
    CodeRequest,
    Consent,
    InboxItem,
    LegalDocument,
    LinkedIdentity,
    LoginTicket,
    Mail,
    Member,
    MutedKind,
    PointHistory,
    RecoveryCode,
    RemovedIdentity,
    SecurityLogEntry,
    TotpFactor,
)
from billing.account_tokens import get_account_token
from board.models import (
    Comment,
    CommentVote,
    Decision,
    Image,
    ModerationCase,
    PostKey,
    PostVote,
    Report,
)
from ledger.entries.merges import merge_entries
from ledger.entries.transfer_candidates import dismiss_transfer
from ledger.entries.writing import create_entry, refund_entry
from ledger.entry_shape import EntryShape, LineShape
from ledger.imports.committing import commit_import
from ledger.models import (
    BudgetIncome,
    CardBill,
    CardPayment,
    Entry,
    LedgerCopy,
    Notification,
    Occurrence,
    QuickEntryTag,
    RecurringTag,
    RequestKey,
)
from ledger.quick_entries.quick_entries import create_quick_entry
from ledger.recurring.rules import create_rule
from ledger.wallets.wallets import create_valuation
from tests.support.announcements import make_announcement
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_budget,
    make_card_settings,
    make_category,
    make_comment,
    make_entry,
    make_layout,
    make_member,
    make_post,
    make_quick_entry,
    make_rule,
    make_tag,
    make_trade,
    make_unsure_text,
    make_wallet,
)
from tests.support.imports import make_import
from tests.support.operations import delete_recorded
from tests.support.purchases import make_purchase

NOON = datetime.fromisoformat("2026-11-20T12:00:00+09:00")


def give_everything(member: Member) -> None:
    """Create rows in every table that names a member; a new table needs a line here."""
    wallet = make_wallet(member)
    major = make_category(member)
    make_category(member, parent=major)
    expense = make_entry(member, wallet=wallet, category=major, tags=("food", "out"))
    make_entry(member, wallet=wallet, category=major, pending=True)
    income = make_entry(member, type="income", wallet=wallet)
    dismiss_transfer(member, expense.pk, income.pk)
    RequestKey.objects.create(
        member=member, caller_id=member.pk, key="key", fingerprint=b"1", status=204
    )
    gone = make_entry(member)
    Entry.objects.filter(member=member, pk=gone.pk).update(client_id=uuid.uuid4())
    delete_recorded(member, gone.pk)
    LedgerCopy.objects.create(
        member=member, table_name="account", columns=["id"], data=b"x"
    )
    quick = make_quick_entry(member, wallet=wallet, category=major)
    QuickEntryTag.objects.create(
        quick_entry=quick, tag=make_tag(member), member_id=member.pk, position=0
    )
    give_card(member)
    give_lines(member)
    make_trade(member)
    make_budget(member, category=major)
    BudgetIncome.objects.create(member=member, year=2026, month=11, amount=1)
    give_rule(member, wallet=wallet, category=major)
    give_notification(member)
    give_imports(member)
    give_board(member)
    give_purchase(member)
    PointHistory.objects.create(
        member=member, points=10, reason="POST", created_at=NOON
    )
    give_mail(member)
    JSONClient(member)
    give_second_factor(member)


def give_card(member: Member) -> None:
    """Create settings of a card, a printed bill and an automatic payment."""
    bank, card = make_wallet(member, kind="BANK"), make_wallet(member, kind="CARD")
    make_card_settings(card, pay_from_wallet=bank, auto_pay=True)
    month = NOON.date().replace(day=1)
    CardBill.objects.create(member=member, card_id=card.pk, month=month, amount=5)
    CardPayment.objects.create(
        member=member, wallet=card, month=month, status=CardPayment.Status.SKIPPED
    )


def give_second_factor(member: Member) -> None:
    """Create an authenticator app, a recovery code, a ticket and an entry of the log."""
    TotpFactor.objects.create(member=member)
    RecoveryCode.objects.create(member=member, index="AA", hash="x")
    LoginTicket.objects.create(
        digest=f"{member.pk}", member=member, auth_hash="x", expires_at=NOON
    )
    SecurityLogEntry.objects.create(member=member, kind="LOGIN")
    subject = f"subject of {member.pk}"
    other = make_member()
    Block.objects.create(member=member, blocked=other)
    Block.objects.create(member=other, blocked=member)
    LinkedIdentity.objects.create(member=member, provider="google", subject=subject)
    RemovedIdentity.objects.create(member=member, provider="google", digest=b"x")


def give_mail(member: Member) -> None:
    """Create a mail that waits, with the code in it."""
    expires_at = timezone.now() + timedelta(minutes=10)
    mail = Mail.objects.create(
        member=member,
        template="verify_email",
        message_id=f"<{uuid.uuid4()}@ledger.example>",
        content=b"sealed",
        expires_at=expires_at,
    )
    request = CodeRequest.objects.create(
        purpose="VERIFY_EMAIL", member=member, expires_at=expires_at
    )
    save_code(request, member, make_code(), email=member.email, mail=mail)


def give_lines(member: Member) -> None:
    """Create lines of an entry and of templates, a refund, a merge, a typed-in value."""
    lines = (LineShape(7, "Lines"), LineShape(3, wallet=make_wallet(member).pk))
    wallet, other = make_wallet(member), make_wallet(member)
    data = EntryShape(
        date=NOON.date(), type="expense", amount=10, wallet=wallet.pk, lines=lines
    )
    entry_id = create_entry(member, data, NOON)
    refund_entry(member, entry_id, {}, NOON)
    expense = make_entry(member, wallet=wallet)
    income = make_entry(member, type="income", wallet=other)
    merge_entries(member, expense.pk, income.pk, NOON)
    pension = make_wallet(member, manual_valuation=True)
    create_valuation(member, pension.pk, NOON.date(), 1, NOON)
    shape = {"type": "expense", "amount": 10, "wallet": wallet.pk, "lines": lines}
    create_quick_entry(member, shape | {"name": "Split"})
    schedule = {"frequency": "DAILY", "anchor_date": NOON.date()}
    create_rule(member, shape | schedule | {"name": "Split"}, NOON.date())


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


def give_imports(member: Member) -> None:
    """Create an open file with a row, and a committed one with key and columns."""
    for _ in range(2):
        row = make_import(member)
    commit_import(member, row.id, timezone.now())


def give_notification(member: Member) -> None:
    """Create an announced payment, a taught layout, and a memo with its category."""
    Notification.objects.create(
        member=member,
        notif_key="key",
        kind="approval",
        value=1,
        happened_at=NOON,
        is_timed=True,
    )
    make_layout(member)
    make_unsure_text(member)
    make_entry(member, memo="cafe", category=make_category(member))


def give_purchase(member: Member) -> None:
    """Create a verified order, and the token for the stores."""
    get_account_token(member)
    make_purchase(
        member, f"test-{member.pk}", store="test", purchased_at=NOON, expires_at=NOON
    )


def give_board(member: Member) -> None:
    """Create a post, a comment and votes on another member's post, and an image."""
    PostKey.objects.create(member=member, key="key", fingerprint=b"1", status=204)
    make_post(member)
    comment = make_comment(member)
    theirs = make_comment(comment.post.member, post=comment.post)
    PostVote.objects.create(post=comment.post, member=member, value=1)
    CommentVote.objects.create(comment=theirs, member=member, value=-1)
    Image.objects.create(member=member, content=b"x", width=1, height=1, size=1)
    give_cases(member, comment)


def give_cases(member: Member, comment: Comment) -> None:
    """Create a report by the member, a case about them, a decision, and an inbox."""
    other = make_member()
    case: dict[str, Any] = {"kind": "REPORT", "content": "words", "report_count": 1}
    case["post_id"] = comment.post_id
    about = ModerationCase.objects.create(
        target_type="COMMENT", target_id=comment.pk, author=member, **case
    )
    themselves = ModerationCase.objects.create(
        kind="REPORT", target_type="MEMBER", target_id=member.pk, author=member
    )
    by_member = ModerationCase.objects.create(
        target_type="POST", target_id=comment.post_id, author=other, **case
    )
    Report.objects.create(case=about, member=other, reason="SPAM")
    Report.objects.create(case=themselves, member=other, reason="SPAM")
    Report.objects.create(case=by_member, member=member, reason="SPAM")
    Decision.objects.create(
        case=about,
        action="HIDE",
        appeal="Why?",
        appealed_at=NOON,
        is_automatic=True,
    )
    Decision.objects.create(case=by_member, action="HIDE", actor=member)
    document = LegalDocument.objects.create(
        kind="TERMS",
        version=f"of {member.pk}",
        locale="en",
        effective_at=NOON,
        required=False,
    )
    Consent.objects.create(member=member, document=document, accepted=True)
    InboxItem.objects.create(member=member, kind="COMMENT", actor=other)
    InboxItem.objects.create(member=other, kind="COMMENT", actor=member)
    MutedKind.objects.create(member=member, kind="REPLY")
    AnnouncementMark.objects.create(member=member, announcement=make_announcement())
