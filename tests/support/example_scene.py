"""The household and the board that the examples of the OpenAPI document are about."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Model

from accounts.codes.codes import CODE_LIFETIME, normalize_code, save_code
from accounts.models import (
    AuditLogEntry,
    CodeRequest,
    InboxItem,
    LegalDocument,
    LinkedIdentity,
    LoginTicket,
    Member,
    PointHistory,
)
from accounts.openapi_examples import CODE, RESET_ID, VERIFICATION_ID
from accounts.security_examples import TICKET
from accounts.sessions.store import hash_session_key
from board.models import Comment, Decision, ModerationCase, Report
from card_alerts import learn_layout
from ledger.models import (
    DefaultCategory,
    Occurrence,
    Operation,
    StockQuote,
    TaughtLayout,
)
from ledger.quick_entries import quick_entries
from ledger.wallets import wallets
from tests.support.announcements import make_announcement
from tests.support.factories import (
    make_budget,
    make_category,
    make_comment,
    make_entry,
    make_layout,
    make_member,
    make_post,
    make_rule,
    make_stock,
    make_tag,
    make_trade,
    make_unsure_text,
    make_wallet,
)
from tests.support.operations import delete_recorded
from tests.support.plans import buy as buy_on_card
from tests.support.plans import make_card_wallet
from tests.support.second_factors import give_totp

# A Friday. The examples were written on it.
NOW = datetime(2026, 11, 20, 12, 30, tzinfo=ZoneInfo("Asia/Seoul"))


@dataclass
class Scene:
    """The members who send the examples, and the real ids behind those of examples."""

    members: dict[str, Member] = field(default_factory=dict)
    ids: dict[int, int] = field(default_factory=dict)

    @property
    def member(self) -> Member:
        return self.members["member"]


def make_scene() -> Scene:
    """Make the rows that exist before the first example is sent."""
    scene = Scene()
    add_members(scene)
    add_ledger(scene)
    add_installments(scene)
    add_board(scene)
    return scene


def add_members(scene: Scene) -> None:
    scene.members = {
        "member": make_member(
            login_id="minji",
            display_name="김민지",
            email="minji@example.com",
            password="gimchi-jjigae-42",
            plan="PREMIUM",
            plan_expires_at=NOW + timedelta(days=30),
        ),
        "free_member": make_member(
            login_id="junho", display_name="이준호", email="junho@example.com"
        ),
        "administrator": make_member(
            login_id="admin", display_name="관리자", role="ADMIN"
        ),
    }
    for number, member in enumerate(scene.members.values(), start=1):
        scene.ids[number] = member.pk
    add_identity(scene.member)
    add_second_factors(scene)
    add_code(scene.members["free_member"], VERIFICATION_ID, "VERIFY_EMAIL")
    add_code(scene.members["administrator"], RESET_ID, "RESET_PASSWORD")
    award = PointHistory.objects.create(member=scene.member, points=10, reason="POST")
    scene.ids[401] = award.pk


def add_identity(member: Member) -> None:
    """Link the provider's identity that the examples list and remove."""
    member.idp_id = "110"
    member.save_fields("idp_id")
    LinkedIdentity.objects.create(
        member=member,
        provider="google",
        subject="110",
        linked_at=NOW - timedelta(days=10),
        last_used_at=NOW - timedelta(hours=15),
    )


def add_second_factors(scene: Scene) -> None:
    """Add the factor that staff end, and a login that waits for one."""
    give_totp(scene.members["free_member"])
    LoginTicket.objects.create(
        digest=hash_session_key(TICKET),
        member=scene.member,
        auth_hash=scene.member.get_session_auth_hash(),
        expires_at=NOW + timedelta(minutes=5),
    )


def add_code(member: Member, request_id: str, purpose: str) -> None:
    """Add the code that a mail brought to the member."""
    request = CodeRequest.objects.create(
        pk=request_id,
        purpose=purpose,
        member=member,
        expires_at=NOW + CODE_LIFETIME,
        processed_at=NOW,
    )
    save_code(request, member, normalize_code(CODE), email=member.email)


def add_ledger(scene: Scene) -> None:
    member = scene.member
    cash = make_wallet(member, name="현금", opening_balance=50_000, sort_order=1)
    card = make_wallet(
        member, name="신한카드", kind="CARD", institution="신한", sort_order=2
    )
    bank = wallets.create_wallet(
        member,
        {
            "name": "국민은행",
            "kind": "BANK",
            "institution": "KB국민",
            "opening_balance": 3_000_000,
            "account_number": "123456-04-567890",
        },
        NOW,
    )
    food = make_category(member, name="식비", sort_order=1)
    lunch = make_category(member, name="점심", parent=food, sort_order=1)
    home = make_category(member, name="주거", sort_order=2)
    rent = make_category(member, name="월세", parent=home, sort_order=1)
    pay = make_category(member, name="급여", type="income", sort_order=1)
    company = make_tag(member, name="회사", sort_order=1)
    weekend = make_tag(member, name="주말", sort_order=2)
    salary_entry = make_entry(
        member,
        date=date(2026, 11, 10),
        type="income",
        amount=3_200_000,
        category=pay,
        wallet=bank,
        memo="11월 급여",
    )
    rent_entry = make_entry(
        member,
        date=date(2026, 11, 1),
        amount=650_000,
        category=rent,
        wallet=bank,
        memo="11월 월세",
    )
    lunch_entry = make_entry(
        member,
        tags=("회사",),
        date=date(2026, 11, 19),
        amount=12_000,
        category=lunch,
        wallet=card,
        memo="김밥천국 강남점",
    )
    pending = make_entry(
        member,
        date=date(2026, 11, 20),
        amount=5_600,
        wallet=card,
        memo="스타벅스강남점",
        pending=True,
    )
    moved: Any = {"date": date(2026, 11, 18), "amount": 300_000, "pending": True}
    withdrawal = make_entry(member, wallet=bank, memo="ATM 출금", **moved)
    deposit = make_entry(member, wallet=cash, type="income", **moved)
    coffee = quick_entries.create_quick_entry(
        member,
        {
            "name": "아메리카노",
            "type": "expense",
            "amount": 4_500,
            "category": "식비",
            "wallet": card.pk,
            "memo": "회사 앞 카페",
            "tags": ["회사"],
        },
    )
    rule = make_rule(
        member,
        name="월세",
        amount=650_000,
        category=rent,
        wallet=bank,
        anchor_date=date(2026, 11, 1),
        next_date=date(2026, 12, 1),
    )
    occurrence = Occurrence.objects.create(
        member=member,
        rule=rule,
        due_date=date(2026, 11, 1),
        status="BOOKED",
        entry=rent_entry,
    )
    food_budget = make_budget(member, category=food, amount=400_000)
    home_budget = make_budget(member, category=home, amount=700_000)
    samsung = make_stock(
        member,
        code="005930",
        name="삼성전자",
        market="KOSPI",
        sort_order=1,
    )
    StockQuote.objects.create(
        code="005930",
        price=71_500,
        currency="KRW",
        home_price=71_500,
        quoted_at=NOW,
        fetched_at=NOW,
        next_refresh_at=NOW + timedelta(hours=1),
    )
    buy = make_trade(
        member, stock=samsung, date=date(2026, 3, 2), price=68_000, fee=100
    )
    DefaultCategory.objects.filter(parent__isnull=False).delete()
    DefaultCategory.objects.all().delete()
    default_food = DefaultCategory.objects.create(
        name="식비",
        name_en="Food",
        type="expense",
        icon="restaurant",
        color="#ef6c00",
        sort_order=1,
    )
    groceries = DefaultCategory.objects.create(
        name="장보기",
        name_en="Groceries",
        type="expense",
        parent=default_food,
        sort_order=1,
    )
    rows_by_first_id: dict[int, list[Model]] = {
        11: [cash, card, bank],
        21: [food, lunch, home, rent, pay],
        27: [default_food, groceries],
        31: [company, weekend],
        41: [salary_entry, rent_entry, lunch_entry, pending],
        49: [withdrawal, deposit],
        51: [coffee],
        61: [rule],
        71: [food_budget, home_budget],
        81: [samsung],
        91: [buy],
        301: [occurrence],
        501: [add_layout(member)],
        521: [
            make_unsure_text(member, created_at=NOW),
            make_unsure_text(member, created_at=NOW, is_booked=True),
        ],
    }
    for first, rows in rows_by_first_id.items():
        for number, row in enumerate(rows, start=first):
            scene.ids[number] = row.pk
    gone = make_entry(member, date=date(2026, 11, 15), amount=18_000, memo="서점")
    scene.ids |= {58: gone.pk, 57: delete_recorded(member, gone.pk)}
    Operation.objects.update(at=NOW)


def add_installments(scene: Scene) -> None:
    """Add a card of a member with a plan who has no other entries."""
    member = scene.members["administrator"]
    fees = make_category(member, name="관리비", sort_order=1)
    card = make_card_wallet(
        member,
        {"closingDay": 31, "paymentDay": 14, "paymentMonth": 1},
        targets=[300_000, 600_000],
        excluded_category_ids=[fees.pk],
    )
    machine = buy_on_card(
        member, card, "2026-10-09", 1_000_000, memo="세탁기", installment_months=3
    )
    buy_on_card(member, card, "2026-11-05", 412_000, memo="이마트")
    buy_on_card(member, card, "2026-11-10", 98_000, category=fees)
    scene.ids |= {3550: card.pk, 3551: machine.pk}


def add_layout(member: Member) -> TaughtLayout:
    text = "[새벽저축은행] 김*지님 체크 결제 12,000원 / 김밥천국 강남점 / 11.20 12:25"
    parts = {"amount": "12,000", "merchant": "김밥천국 강남점"}
    starts = {slot: text.index(part) for slot, part in parts.items()}
    layout = learn_layout(
        text, {slot: (starts[slot], starts[slot] + len(parts[slot])) for slot in parts}
    )
    assert layout
    return make_layout(
        member, sender="15881234", template=layout.template, uses=3, created_at=NOW
    )


def add_board(scene: Scene) -> None:
    author = scene.members["free_member"]
    post = make_post(
        author,
        title="장보기 비용 줄이는 법",
        content="<p>일주일 식단을 먼저 짜고 장을 봅니다.</p>",
        category="saving",
        tags=["장보기", "식비"],
    )
    comment = make_comment(author, post=post, content="좋은 글 감사합니다.")
    document = LegalDocument.objects.create(
        kind="COMMUNITY",
        version="1.0",
        locale="ko",
        title="커뮤니티 수칙",
        body="서로 존중해요.",
        effective_at=datetime(2026, 11, 1, tzinfo=ZoneInfo("UTC")),
        required=False,
    )
    scene.ids |= {101: post.pk, 201: comment.pk, 801: document.pk}
    scene.ids |= {811: add_announcement(), 901: add_log_line(scene)}
    add_cases(scene, comment)


def add_announcement() -> int:
    announcement = make_announcement(
        title_ko="정기 점검",
        title_en="Maintenance",
        text_ko="11월 21일 새벽 2시부터 30분 동안 점검해요.",
        text_en="From 2 to 2:30 am on 21 November nothing can be changed.",
        level="WARNING",
        starts_at=NOW - timedelta(hours=3),
        ends_at=NOW + timedelta(hours=21),
    )
    return announcement.pk


def add_log_line(scene: Scene) -> int:
    administrator = scene.members["administrator"]
    line = AuditLogEntry.objects.create(
        at=NOW,
        actor_id=administrator.pk,
        actor_name=administrator.login_id,
        action="DELETION",
        target_type="board.Post",
        target_id="58",
        target_label="장보기",
        text="Deleted. Case 601.",
    )
    return line.pk


def add_cases(scene: Scene, comment: Comment) -> None:
    """Add a case that waits, and one that was decided about the member's comment."""
    member, post = scene.member, comment.post
    case = ModerationCase.objects.create(
        kind="REPORT",
        target_type="COMMENT",
        target_id=comment.pk,
        post_id=post.pk,
        author=comment.member,
        reason="ABUSE",
        content=comment.content,
        report_count=1,
        opened_at=NOW,
    )
    report = Report.objects.create(
        case=case,
        member=scene.members["administrator"],
        reason="ABUSE",
        note="욕설입니다.",
        created_at=NOW,
    )
    hidden = make_comment(member, post=post, content="이건 좀 아니죠.", is_hidden=True)
    decided = ModerationCase.objects.create(
        kind="STAFF",
        status="RESOLVED",
        target_type="COMMENT",
        target_id=hidden.pk,
        post_id=post.pk,
        author=member,
        reason="ABUSE",
        content=hidden.content,
        opened_at=NOW,
    )
    Decision.objects.create(
        case=decided,
        action="HIDE",
        reason="ABUSE",
        actor=scene.members["administrator"],
        decided_at=NOW,
    )
    item = InboxItem.objects.create(
        member=member,
        kind="CONTENT_HIDDEN",
        target_type="CASE",
        target_id=decided.pk,
        at=NOW,
    )
    scene.ids |= {601: case.pk, 602: report.pk, 204: hidden.pk, 701: item.pk}
