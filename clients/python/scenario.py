"""A member's life, from sign-up to deletion.

Use: python scenario.py BASE_URL
"""

import base64
import datetime
import re
import sys
import time
import uuid
from io import BytesIO
from typing import Any

from household_ledger_client import AuthenticatedClient, Client
from household_ledger_client.api.backup import (
    download_backup,
    restore_backup,
    restore_backup_from_json,
)
from household_ledger_client.api.billing import list_products, verify_purchase
from household_ledger_client.api.board import (
    create_comment,
    create_post,
    delete_post,
    set_post_vote,
    upload_image,
)
from household_ledger_client.api.budgets import create_budget
from household_ledger_client.api.card_notifications import (
    parse_notification,
    process_notification,
)
from household_ledger_client.api.entries import (
    create_entry,
    delete_entry,
    get_entry,
    list_entries,
    update_entry,
)
from household_ledger_client.api.net_worth import get_net_worth
from household_ledger_client.api.profile import delete_account
from household_ledger_client.api.quick_entries import create_quick_entry
from household_ledger_client.api.recurring_rules import create_recurring_rule
from household_ledger_client.api.sessions import get_session, log_in, log_out, sign_up
from household_ledger_client.api.statistics import get_month_statistics
from household_ledger_client.api.wallets import create_wallet, list_wallets
from household_ledger_client.models import (
    BudgetWrite,
    CommentWrite,
    EntryPatch,
    EntryRowRequest,
    EntryWrite,
    ImageUploadRequest,
    LoginRequest,
    NotificationRequest,
    ParseNotificationRequest,
    PostWrite,
    Problem,
    PurchaseRequest,
    QuickEntryWrite,
    RecurringRuleWrite,
    RestoreFileRequest,
    RestoreRequest,
    SignupRequest,
    VoteRequest,
    WalletWrite,
)
from household_ledger_client.types import File

PASSWORD = "a-long-password-1"
# Clients of openapi-generator send it where a success has no content.
ACCEPT = {"Accept": "application/problem+json"}
# One white pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC"
)
ALERT = "[Web발신]\n신한카드(1234)승인 김*지 8,900원(일시불)03/04 12:30 김밥천국"


def take(operation: Any, client: Client | AuthenticatedClient, **request: Any) -> Any:
    """Return what the service answered; fail if it refused."""
    response = operation.sync_detailed(client=client, **request)
    assert response.status_code < 300, response.content
    return response.parsed


def refuse(
    operation: Any,
    client: Client | AuthenticatedClient,
    status: int,
    code: str,
    **request: Any,
) -> Problem:
    """Return the refusal of a request; fail if it is another one."""
    response = operation.sync_detailed(client=client, **request)
    assert isinstance(response.parsed, Problem), response.content
    assert (response.status_code, response.parsed.code) == (status, code)
    return response.parsed


def join(base_url: str, login_id: str) -> AuthenticatedClient:
    """Sign up, log out, then log in."""
    stranger = Client(base_url=base_url)
    new = SignupRequest(
        login_id, PASSWORD, "김민지", f"{login_id}@example.com", device_name=None
    )
    session = take(sign_up, stranger, body=new)
    assert session.member.login_id == login_id
    client = AuthenticatedClient(base_url, token=session.token, headers=ACCEPT)
    take(log_out, client)
    refuse(get_session, client, 401, "AUTHENTICATION_REQUIRED")
    session = take(log_in, stranger, body=LoginRequest(login_id, PASSWORD, None))
    client = AuthenticatedClient(base_url, token=session.token, headers=ACCEPT)
    assert take(get_session, client).login_id == login_id
    return client


def subscribe(client: AuthenticatedClient) -> None:
    first = datetime.date(2026, 1, 5)
    rent = RecurringRuleWrite("월세", "expense", 600_000, "MONTHLY", first)
    refuse(create_recurring_rule, client, 403, "PREMIUM_REQUIRED", body=rent)
    product, *_ = take(list_products, client)
    purchase = PurchaseRequest(product.id, f"test-{uuid.uuid4()}")
    assert take(verify_purchase, client, body=purchase).plan == "PREMIUM"
    take(create_recurring_rule, client, body=rent)


def keep_books(client: AuthenticatedClient) -> None:
    card = WalletWrite("신한카드", "CARD", institution="신한카드")
    wallet = take(create_wallet, client, body=card)
    lunch = EntryWrite(
        datetime.date(2026, 3, 2),
        "expense",
        12_000,
        category="점심",
        wallet_id=wallet.id,
        tags=["회사"],
        **dict.fromkeys(("memo", "currency", "lines", "time", "excluded")),
    )
    entry = take(create_entry, client, body=lunch)
    assert (entry.category, entry.wallet.name) == ("점심", "신한카드")
    book = EntryWrite(
        datetime.date(2026, 3, 3),
        "expense",
        currency="USD",
        original_amount=19.99,
        exchange_rate=1380.5,
    )
    foreign = take(create_entry, client, body=book)
    assert (foreign.original_amount, foreign.amount) == (19.99, 27_596)

    patch = EntryPatch(memo="김밥", tags=None)
    changed = take(update_entry, client, entry_id=entry.id, body=patch)
    assert (changed.memo, changed.tags) == ("김밥", [])

    pages, number, has_more = [], 0, True
    while has_more:
        number += 1
        page = take(list_entries, client, page=number, size=1, year=2026, month=3)
        pages.append([each.id for each in page.results])
        has_more = page.next_ is not None
    assert pages == [[foreign.id], [entry.id]]

    take(create_budget, client, body=BudgetWrite(2026, 3, 200_000, category="점심"))
    take(create_quick_entry, client, body=QuickEntryWrite("커피", "expense", 4_500))
    month = take(get_month_statistics, client, year=2026, month=3)
    assert (month.expense, month.count) == (39_596, 2)
    assert take(get_net_worth, client).total == -12_000

    parsed = take(parse_notification, client, body=ParseNotificationRequest(ALERT))
    assert (parsed.amount, parsed.merchant) == (8_900, "김밥천국")
    received_at = datetime.datetime.fromisoformat("2026-03-04T12:30:05+09:00")
    alert = NotificationRequest(ALERT, received_at)
    assert take(process_notification, client, body=alert).entry.pending

    take(delete_entry, client, entry_id=entry.id)
    refuse(get_entry, client, 404, "NOT_FOUND", entry_id=entry.id)


def restore(client: AuthenticatedClient) -> None:
    workbook = take(download_backup, client)
    day = datetime.date(2026, 3, 2)
    row = EntryRowRequest(date=day, type_="expense", amount=500, tags=None)
    rows = RestoreRequest(entries=[row], wallets=None)
    assert take(restore_backup_from_json, client, body=rows, dry_run=True).dry_run
    restored = take(restore_backup_from_json, client, body=rows)
    assert (restored.wallets, restored.entries) == (0, 1)
    file = RestoreFileRequest(File(BytesIO(workbook.payload.read()), "backup.xlsx"))
    restored = take(restore_backup, client, body=file)
    assert (restored.wallets, restored.entries) == (1, 2)


def post(author: AuthenticatedClient, reader: AuthenticatedClient) -> None:
    pixel = ImageUploadRequest(File(BytesIO(PNG), "pixel.png", "image/png"))
    image = take(upload_image, author, body=pixel)
    content = f'<p>식단부터 짭니다.</p><img src="{image.url}">'
    tip = PostWrite("장보기 비용 줄이는 법", "saving", content)
    post_id = take(create_post, author, body=tip).id
    comment = CommentWrite("고맙습니다.")
    take(create_comment, reader, post_id=post_id, body=comment)
    vote = {"post_id": post_id, "body": VoteRequest("up")}
    assert take(set_post_vote, reader, **vote).up_count == 1
    refuse(set_post_vote, author, 400, "SELF_VOTE", **vote)
    refuse(delete_post, reader, 403, "FORBIDDEN", post_id=post_id)


def be_refused(client: AuthenticatedClient, base_url: str, login_id: str) -> None:
    nameless, same = WalletWrite("", "CARD"), WalletWrite("신한카드", "CARD")
    problem = refuse(create_wallet, client, 400, "VALIDATION_ERROR", body=nameless)
    assert problem.errors
    assert [each.field for each in problem.errors] == ["name"]
    refuse(create_wallet, client, 409, "DUPLICATE", body=same)

    stranger = Client(base_url=base_url, headers={"Accept-Language": "ko"})
    unknown = refuse(list_wallets, stranger, 401, "AUTHENTICATION_REQUIRED")
    assert re.search("[가-힣]", unknown.detail)
    large = ParseNotificationRequest("x" * 3_000_000)
    refuse(parse_notification, client, 413, "PAYLOAD_TOO_LARGE", body=large)
    wrong = LoginRequest(login_id, "wrong")
    for _ in range(100):
        response = log_in.sync_detailed(client=stranger, body=wrong)
        if response.status_code == 429:
            assert int(response.headers["Retry-After"]) > 0
            return
        assert response.status_code == 401, response.content
    raise AssertionError("the number of logins is not limited")


def main(base_url: str) -> None:
    login_id = f"author_{time.time_ns()}"
    author = join(base_url, login_id)
    reader = join(base_url, f"reader_{time.time_ns()}")
    subscribe(author)
    keep_books(author)
    restore(author)
    post(author, reader)
    be_refused(author, base_url, login_id)
    take(delete_account, author)
    refuse(get_session, author, 401, "AUTHENTICATION_REQUIRED")
    print("scenario: passed")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
