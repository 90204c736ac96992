"""What a commit writes, and what it leaves alone (spec 3.29)."""

from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Member
from ledger.entries.transfer_candidates import dismiss_transfer
from ledger.models import Category, Entry, EntryLine, ImportKey, Tag, Valuation, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.fakes import FakeRates
from tests.support.imports import (
    HEADER,
    IMPORTS,
    change_rows,
    commit,
    import_file,
    read_file,
    rows_of,
)
from tests.support.problems import assert_problem

pytestmark = pytest.mark.django_db

RESTORE = "/api/account/restore"


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def patch(client: JSONClient, import_id: int, **body: Any) -> Any:
    answer = client.send("PATCH", f"{IMPORTS}/{import_id}", body)
    assert answer.status_code == 200, answer.content
    return answer.data


def test_no_older_entry_is_deleted_or_doubled(
    client: JSONClient, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member, name="A")
    for day in (3, 4, 5):
        make_entry(premium_member, wallet=wallet, amount=500, date=f"2026-09-0{day}")
    before = set(Entry.objects.values_list("pk", flat=True))
    result = import_file(client, HEADER + "2026-09-04,A,,SHOP,-500\n")
    assert (result["created"], result["merged"]) == (0, 1)
    assert set(Entry.objects.values_list("pk", flat=True)) == before


def test_line_of_a_split_entry_is_no_duplicate(
    client: JSONClient, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member, name="A")
    lines = [{"amount": 300}, {"amount": 200, "memo": "part"}]
    body = {"date": "2026-09-04", "type": "expense", "amount": 500}
    body |= {"walletId": wallet.pk, "lines": lines}
    assert client.send("POST", "/api/account/entries", body).status_code == 201
    found = read_file(client, HEADER + "2026-09-04,A,,x,-300\n2026-09-04,A,,y,-500\n")
    assert [row["status"] for row in rows_of(client, found["id"])] == [
        "NEW",
        "LIKELY_DUPLICATE",
    ]
    commit(client, found["id"])
    assert EntryLine.objects.count() == 2


def test_dismissed_pair_stays_two_entries(
    client: JSONClient, premium_member: Member
) -> None:
    first, second = (make_wallet(premium_member, name=name) for name in "AB")
    day: dict[str, Any] = {"date": "2026-09-04", "amount": 500}
    expense = make_entry(premium_member, wallet=first, **day)
    income = make_entry(premium_member, type="income", wallet=second, **day)
    dismiss_transfer(premium_member, expense.pk, income.pk)
    result = import_file(
        client, HEADER + "2026-09-04,A,,out,-500\n2026-09-04,B,,in,500\n"
    )
    assert (result["merged"], result["paired"]) == (2, 0)
    assert Entry.objects.filter(type="transfer").count() == 0


def test_two_files_of_two_banks_make_one_transfer(
    client: JSONClient, premium_member: Member
) -> None:
    make_wallet(premium_member, name="A"), make_wallet(premium_member, name="B")
    import_file(client, HEADER + "2026-09-04,A,,to B,-500\n2026-09-04,A,,x,-1\n")
    second = HEADER + "2026-09-05,B,,from A,500\n2026-09-05,B,,y,-2\n"
    result = import_file(client, second)
    assert (result["created"], result["paired"]) == (1, 1)
    transfer = Entry.objects.get(type="transfer")
    assert (transfer.wallet.name, transfer.to_wallet.name) == ("A", "B")
    assert import_file(client, second)["created"] == 0


def test_pieces_become_installments_of_a_card_alone(
    client: JSONClient, premium_member: Member
) -> None:
    make_wallet(premium_member, name="Card", kind="CARD")
    make_wallet(premium_member, name="Bank")
    text = "date,wallet,memo,amount,할부개월\n"
    text += "2026-09-04,Card,a,-300,3\n2026-09-04,Bank,b,-300,3\n"
    import_file(client, text)
    months = dict(Entry.objects.values_list("memo", "installment_months"))
    assert months == {"a": 3, "b": None}


def test_foreign_row_takes_the_rate_of_its_day(
    client: JSONClient, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1390", "2026-09-04")
    text = "date,memo,currency,originalAmount\n2026-09-04,Book,USD,-10.5\n"
    found = read_file(client, text)
    (row,) = rows_of(client, found["id"])
    assert (row["entry"]["amount"], row["entry"]["currency"]) == (None, "USD")
    commit(client, found["id"])
    entry = Entry.objects.get()
    assert entry.original_amount == Decimal("10.5")
    assert entry.exchange_rate == Decimal(1390)
    assert entry.amount == 14_595


def test_minor_categories_come_below_their_majors(
    client: JSONClient, premium_member: Member
) -> None:
    home = make_category(premium_member, name="주거")
    make_category(premium_member, name="전기", parent=home)
    text = "date,memo,amount,대분류,소분류\n"
    text += "2026-09-04,a,-1,식비,외식\n2026-09-05,b,-2,식비,\n"
    text += "2026-09-06,c,-3,공과금,전기\n"
    result = import_file(client, text)
    parents = {
        row.name: row.parent and row.parent.name
        for row in Category.objects.select_related("parent")
    }
    assert parents["외식"] == "식비"
    assert parents["전기"] == "주거"
    assert "전기" in result["notes"][0]
    by_memo = dict(Entry.objects.values_list("memo", "category__name"))
    assert by_memo == {"a": "외식", "b": "식비", "c": "전기"}


def test_tags_are_made(client: JSONClient) -> None:
    text = 'date,memo,amount,tags\n2026-09-04,a,-1,"trip, food"\n'
    import_file(client, text)
    assert set(Tag.objects.values_list("name", flat=True)) == {"trip", "food"}


def test_row_that_is_edited_becomes_what_was_chosen(
    client: JSONClient, premium_member: Member
) -> None:
    found = read_file(client, HEADER + "2026-09-04,,Food,SHOP 12,-9000\n")
    edits = {"category": "외식", "memo": "점심"}
    (row,) = change_rows(client, found["id"], {"row": 2, "entry": edits})
    assert (row["entry"]["category"], row["entry"]["memo"]) == ("외식", "점심")
    commit(client, found["id"])
    entry = Entry.objects.select_related("category").get()
    assert (entry.category.name, entry.memo) == ("외식", "점심")
    assert not Category.objects.filter(name="Food").exists()


def test_chosen_entry_takes_the_row(client: JSONClient, premium_member: Member) -> None:
    entry = make_entry(premium_member, amount=12, date="2026-08-01")
    found = read_file(client, HEADER + "2026-09-04,,,SHOP,-9000\n")
    chosen = {"row": 2, "action": "MERGE", "entry": {"id": entry.pk}}
    change_rows(client, found["id"], chosen)
    assert commit(client, found["id"])["merged"] == 1
    entry.refresh_from_db()
    assert (entry.amount, str(entry.date)) == (12, "2026-09-04")


def test_skipped_row_comes_again(client: JSONClient) -> None:
    text = HEADER + "2026-09-04,,,SHOP,-9000\n2026-09-04,,,x,-1\n"
    found = read_file(client, text)
    change_rows(client, found["id"], {"row": 2, "action": "SKIP"})
    result = commit(client, found["id"])
    assert (result["created"], result["skipped"]) == (1, 1)
    counts = read_file(client, text)["counts"]
    assert (counts["NEW"], counts["DUPLICATE"]) == (1, 1)


@pytest.mark.parametrize("is_kept", [True, False])
def test_restore_forgets_keys_unless_they_are_kept(
    client: JSONClient, premium_member: Member, is_kept: bool
) -> None:
    make_wallet(premium_member, name="A")
    text = HEADER + "2026-09-04,A,,SHOP,-9000\n2026-09-04,,,none,-1\n"
    import_file(client, text)
    backup = b"".join(client.get("/api/account/backup"))
    path = f"{RESTORE}?keepImportKeys={'true' if is_kept else 'false'}"
    answer = client.post(path, {"file": SimpleUploadedFile("b.xlsx", backup)})
    assert answer.status_code == 200, answer.content
    assert ImportKey.objects.count() == (2 if is_kept else 0)
    counts = read_file(client, text)["counts"]
    if is_kept:
        assert counts["DUPLICATE"] == 2
    else:
        # The restored entries are no file's any more.
        assert counts["LIKELY_DUPLICATE"] == 2


def test_balances_are_applied_if_they_are_asked_for(
    client: JSONClient, premium_member: Member
) -> None:
    make_wallet(premium_member, name="Fund", manual_valuation=True)
    ofx = """OFXHEADER:100
DATA:OFXSGML
VERSION:102
SECURITY:NONE
ENCODING:UTF-8
CHARSET:NONE
COMPRESSION:NONE
OLDFILEUID:NONE
NEWFILEUID:NONE

<OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS>
<DTSERVER>20260910<LANGUAGE>KOR</SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>
<STMTRS><CURDEF>KRW<BANKACCTFROM><BANKID>1<ACCTID>{name}<ACCTTYPE>CHECKING
</BANKACCTFROM><BANKTRANLIST><DTSTART>20260901<DTEND>20260910
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260904<TRNAMT>-500<FITID>1<NAME>SHOP</STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>10000<DTASOF>20260910</LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"""
    for name, is_asked in (("New", True), ("Other", False), ("Fund", True)):
        found = read_file(client, ofx.replace("{name}", name))
        assert found["balances"][0]["amount"] == 10_000
        patch(client, found["id"], balances=is_asked)
        commit(client, found["id"])
    openings = dict(Wallet.objects.values_list("name", "opening_balance"))
    assert openings == {"New": 10_500, "Other": 0, "Fund": 0}
    value = Valuation.objects.get()
    assert (value.value, str(value.date)) == (10_000, "2026-09-10")


def test_dates_are_read_in_the_chosen_order(client: JSONClient) -> None:
    found = read_file(client, "date,memo,amount\n03/04/2026,a,-1\n")
    for order, day in (("dmy", "2026-04-03"), ("mdy", "2026-03-04")):
        changed = patch(client, found["id"], dateOrder=order)
        assert changed["sample"][0]["entry"]["date"] == day


def test_missing_wallet_of_a_transfer_is_named_by_row(
    client: JSONClient, premium_member: Member
) -> None:
    make_wallet(premium_member, name="A")
    other = make_wallet(premium_member, name="B")
    text = "date,wallet,type,memo,amount\n"
    text += "2026-09-04,A,이체,저축,-500\n2026-09-05,A,이체,모름,-70\n"
    found = read_file(client, text)
    assert found["counts"]["UNPAIRED"] == 2
    change_rows(client, found["id"], {"row": 2, "entry": {"toWalletId": other.pk}})
    commit(client, found["id"])
    moved = Entry.objects.get(amount=500)
    assert (moved.type, moved.to_wallet_id) == ("transfer", other.pk)
    left = Entry.objects.get(amount=70)
    assert (left.type, left.excluded) == ("expense", True)


def test_unavailable_rate_stops_the_commit(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "date,memo,currency,originalAmount\n2026-09-04,Book,XAF,-10.5\n"
    found = read_file(client, text)
    answer = client.send("POST", f"{IMPORTS}/{found['id']}/commit")
    assert_problem(answer, 502, "PROVIDER_UNAVAILABLE")
    assert not Entry.objects.exists()


def test_wallet_is_found_by_its_only_institution(
    client: JSONClient, premium_member: Member
) -> None:
    card = make_wallet(premium_member, name="내 카드", kind="CARD", institution="삼성")
    for name, guess in (("삼성카드", "INSTITUTION"), ("내 카드", "NAME")):
        found = read_file(client, HEADER + f"2026-09-04,{name},,a,-1\n")
        assert (found["wallets"][0]["walletId"], found["wallets"][0]["guess"]) == (
            card.pk,
            guess,
        )
        client.delete(f"{IMPORTS}/{found['id']}")
    make_wallet(premium_member, name="B", kind="CARD", institution="삼성")
    found = read_file(client, HEADER + "2026-09-04,삼성카드,,a,-1\n")
    assert found["wallets"][0]["create"] == {"kind": "CARD"}


def test_learned_category_that_is_gone_is_left_out(
    client: JSONClient, premium_member: Member
) -> None:
    food = make_category(premium_member, name="Food")
    entry = make_entry(premium_member, memo="SHOP 12", amount=1, category=food)
    found = read_file(client, HEADER + "2026-09-05,,,SHOP 12,-9000\n")
    client.delete(f"/api/account/entries/{entry.pk}")
    assert client.delete(f"/api/account/categories/{food.pk}").status_code == 204
    commit(client, found["id"])
    assert Entry.objects.get().category_id is None


def test_refund_of_an_imported_purchase_takes_its_category_and_tags(
    client: JSONClient, premium_member: Member
) -> None:
    make_wallet(premium_member, name="Card", kind="CARD")
    head = "date,wallet,memo,amount,상태,tags\n"
    bought = "2026-09-04,Card,Shop,-500,승인,trip\n"
    import_file(client, head + bought)
    purchase = Entry.objects.get()
    food = make_category(premium_member, name="Food")
    body = {"categoryId": food.pk}
    path = f"/api/account/entries/{purchase.pk}"
    assert client.send("PATCH", path, body).status_code == 200
    result = import_file(client, head + bought + "2026-09-06,Card,Shop,500,취소,\n")
    assert result["created"] == 1
    refund = Entry.objects.get(type="income")
    assert (refund.refund_of_id, refund.category_id) == (purchase.pk, food.pk)
    assert refund.tag_links.count() == 1


@pytest.mark.parametrize("names", [("Card", "card"), ("L" * 150, "L" * 151)])
def test_names_that_look_alike_bring_no_row_twice(
    client: JSONClient, names: tuple[str, str]
) -> None:
    text = HEADER + "".join(f"2026-09-04,{name},,x,-5\n" for name in names)
    assert import_file(client, text)["created"] == 2
    again = read_file(client, text)
    assert again["counts"]["DUPLICATE"] == 2
    assert commit(client, again["id"])["created"] == 0


def test_new_wallet_of_two_open_imports_is_one(client: JSONClient) -> None:
    ids = [read_file(client, HEADER + "2026-09-04,A,,x,-5\n")["id"] for _ in range(2)]
    for import_id in ids:
        patch(client, import_id, wallets=[{"name": "A", "create": {"kind": "CASH"}}])
    results = [commit(client, import_id) for import_id in ids]
    assert [result["created"] for result in results] == [1, 0]
    assert Wallet.objects.count() == 1


def test_wallet_that_is_chosen_as_a_new_one_exists(
    client: JSONClient, premium_member: Member
) -> None:
    make_wallet(premium_member, name="A")
    text = HEADER + "2026-09-04,A,,x,-5\n2026-09-04,a,,x,-5\n"
    found = read_file(client, text)
    patch(client, found["id"], wallets=[{"name": "A", "create": {"kind": "BANK"}}])
    assert commit(client, found["id"])["created"] == 2
    assert Wallet.objects.count() == 1


def test_deleted_wallet_of_a_row_stops_the_commit(
    client: JSONClient, premium_member: Member
) -> None:
    other = make_wallet(premium_member, name="B")
    text = "date,wallet,type,memo,amount\n2026-09-04,A,이체,x,-500\n"
    found = read_file(client, text)
    change_rows(client, found["id"], {"row": 2, "entry": {"toWalletId": other.pk}})
    other.delete()
    answer = client.send("POST", f"{IMPORTS}/{found['id']}/commit")
    assert_problem(answer, 409, "REFERENCE_GONE")
    assert not Entry.objects.exists()


@pytest.mark.parametrize("is_named", [True, False])
def test_row_to_merge_is_imported_if_its_entry_is_gone(
    client: JSONClient, premium_member: Member, is_named: bool
) -> None:
    wallet = make_wallet(premium_member, name="A")
    day = 1 if is_named else 4
    entry = make_entry(
        premium_member, wallet=wallet, amount=500, date=f"2026-09-0{day}"
    )
    found = read_file(client, HEADER + "2026-09-04,A,,SHOP,-500\n")
    row: dict[str, Any] = {"row": 2, "action": "MERGE"}
    if is_named:
        row["entry"] = {"id": entry.pk}
    change_rows(client, found["id"], row)
    entry.delete()
    result = commit(client, found["id"])
    assert (result["created"], result["merged"], result["skipped"]) == (1, 0, 0)


def test_refund_without_a_named_entry_cannot_be_merged(client: JSONClient) -> None:
    text = "date,type,memo,amount\n2026-09-04,지출,y,-1\n2026-09-05,지출,x,500\n"
    found = read_file(client, text)
    _, refund = rows_of(client, found["id"])
    assert refund["status"] == "REFUND"
    body = [{"row": refund["row"], "action": "MERGE"}]
    answer = client.send("PATCH", f"{IMPORTS}/{found['id']}/rows", body)
    assert_problem(answer, 400, "VALIDATION_ERROR")


def test_row_with_a_named_entry_makes_no_other_one(
    client: JSONClient, premium_member: Member
) -> None:
    first, second = (make_wallet(premium_member, name=name) for name in "AB")
    half = make_entry(
        premium_member, type="income", wallet=second, amount=500, date="2026-09-04"
    )
    named = make_entry(premium_member, wallet=first, amount=400, date="2026-09-09")
    found = read_file(client, HEADER + "2026-09-04,A,,out,-500\n")
    (row,) = rows_of(client, found["id"])
    assert (row["status"], row["entryId"]) == ("PAIRED", half.pk)
    choice = {"row": 2, "action": "MERGE", "entry": {"id": named.pk}}
    change_rows(client, found["id"], choice)
    result = commit(client, found["id"])
    assert (result["created"], result["merged"], result["paired"]) == (0, 1, 0)
    assert set(Entry.objects.values_list("type", flat=True)) == {"income", "expense"}


@pytest.mark.parametrize("is_deleted", [True, False])
def test_other_payment_stays_another_one_after_a_move(
    client: JSONClient, is_deleted: bool
) -> None:
    import_file(client, HEADER + "2026-09-04,A,,x,-500\n2026-09-04,B,,y,-1\n")
    first, second = Wallet.objects.order_by("name")
    moved = Entry.objects.get(amount=500)
    if is_deleted:
        path = f"/api/account/wallets/{first.pk}?moveTo={second.pk}"
        assert client.delete(path).status_code == 204
    else:
        path = f"/api/account/entries/{moved.pk}"
        answer = client.send("PATCH", path, {"walletId": second.pk})
        assert answer.status_code == 200, answer.content
    result = import_file(client, HEADER + "2026-09-05,B,,z,-500\n")
    assert (result["created"], result["merged"]) == (1, 0)


def test_file_of_a_wallet_that_was_moved_brings_nothing_again(
    client: JSONClient,
) -> None:
    text = HEADER + "2026-09-04,A,,x,-500\n2026-09-05,A,,y,-1\n2026-09-04,B,,z,-2\n"
    import_file(client, text)
    first, second = Wallet.objects.order_by("name")
    path = f"/api/account/wallets/{first.pk}?moveTo={second.pk}"
    assert client.delete(path).status_code == 204
    assert import_file(client, text)["created"] == 0
    assert Wallet.objects.count() == 1
    # Nor where a client names the wallet that has the rows now.
    found = read_file(client, text)
    patch(client, found["id"], wallets=[{"name": "A", "walletId": second.pk}])
    assert commit(client, found["id"])["created"] == 0
