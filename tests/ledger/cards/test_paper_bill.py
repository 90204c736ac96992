"""A month of two people with three cards, beside their bills on paper, line by line."""

from pathlib import Path
from typing import Any

from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    find_imbalance,
    make_bank,
    make_card,
    move,
    write_entry,
)
from tests.support.clients import JSONClient

PAPER = Path(__file__).parents[2] / "samples" / "paper_bill.txt"


def spend(client: JSONClient) -> dict[int, str]:
    """Write the entries of the month; return the names of the cards by id."""
    bank, pay_money = make_bank(client), make_bank(client, "페이머니")
    first = make_card(client, "한빛카드", from_="2026-10", **MONTHLY)
    family = make_card(client, "가족카드", billedWithId=first)
    blue = make_card(client, "푸른카드", closingDay=13, paymentDay=27, from_="2026-12")
    # The refund of October is carried over two bills.
    write_entry(client, "income", "2026-10-20", 95_000, walletId=first)
    buy(client, first, "2026-10-03", 900_000, installmentMonths=10, memo="냉장고")
    bought = buy(client, first, "2026-11-02", 82_400, memo="마트")
    buy(client, family, "2026-11-05", 240_000, memo="학원")
    move(client, first, pay_money, "2026-11-07", 50_000, memo="페이머니 충전")
    buy(client, family, "2026-11-11", 100_000, installmentMonths=3, memo="운동화")
    client.create_json(
        f"{ACCOUNT}/entries/{bought['id']}/refund",
        {"amount": 12_400, "date": "2026-11-15"},
    )
    write_entry(client, "income", "2026-11-20", 3_000, walletId=first, memo="청구할인")
    buy(client, family, "2026-11-28", 65_000, memo="주유")
    move(client, bank, first, "2026-12-02", 100_000, billMonth="2026-12")
    printed = f"{ACCOUNT}/wallets/{first}/bills/2026-12"
    client.change_json("PUT", printed, {"amount": 540_334})
    buy(client, blue, "2026-11-20", 310_000, memo="항공권")
    buy(client, blue, "2026-12-01", 27_000, memo="서점")
    assert find_imbalance(client, [first, family]) == 0
    return {first: "한빛카드", family: "가족카드", blue: "푸른카드"}


def print_bill(bill: Any, names: dict[int, str]) -> list[str]:
    year, month = bill["month"].split("-")
    period = f"{bill['periodStart']} ~ {bill['periodEnd']}"
    lines = [
        f"{names[bill['walletId']]} {year}년 {month}월 청구서",
        f"이용기간 {period}, 결제일 {bill['paymentDate']}",
    ]
    for item in bill["items"]:
        part = f" ({item['part']}/{item['parts']})" if item["part"] else ""
        text = f"{item['date'][5:]} {names[item['walletId']]} {item['memo']}{part}"
        width = sum(2 if ord(char) > 127 else 1 for char in text)
        lines.append(text + " " * (44 - width) + f"{item['amount']:>12,}")
    refunds = -bill["refunds"]
    lines.append(
        f"일시불 {bill['charges']:,} / 할부 {bill['installments']:,}"
        f" / 환급 {refunds:,} / 이월 {bill['carried']:,}"
    )
    printed = ""
    if bill["printed"] is not None:
        printed = f" (인쇄 {bill['printed']:,}, 차이 {bill['difference']:,})"
    left = f"남은 금액 {bill['remaining']:,}, 상태 {bill['status']}"
    return [
        *lines,
        f"청구 금액 {bill['total']:,}{printed}",
        f"납부 {bill['paid']:,}, {left}",
    ]


def test_bills_are_those_on_paper(client: JSONClient) -> None:
    names = spend(client)
    found = client.get_json(f"{ACCOUNT}/bills", month="2026-12")
    lines = [line for bill in found["bills"] for line in print_bill(bill, names)]
    lines.append(f"합계 {found['total']:,}, 남은 금액 {found['remaining']:,}")
    printed = [" ".join(line.split()) for line in lines]
    paper = [" ".join(line.split()) for line in PAPER.read_text().splitlines()]
    assert printed == paper, "\n".join(lines)
