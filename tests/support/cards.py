"""Cards, their entries and bills by plain requests."""

from typing import Any

from tests.support.clients import JSONClient

ACCOUNT = "/api/account"
MONTHLY: dict[str, Any] = {"closingDay": 31, "paymentDay": 14}


def make_card(client: JSONClient, name: str = "카드", **settings: Any) -> int:
    """Create a CARD wallet, with settings if there are some; return its id."""
    wallet_id = int(
        client.create_json(f"{ACCOUNT}/wallets", {"name": name, "kind": "CARD"})["id"]
    )
    if settings:
        set_card(client, wallet_id, **settings)
    return wallet_id


def make_bank(client: JSONClient, name: str = "통장", **fields: Any) -> int:
    body = {"name": name, "kind": "BANK"} | fields
    return int(client.create_json(f"{ACCOUNT}/wallets", body)["id"])


def set_card(client: JSONClient, wallet_id: int, **settings: Any) -> Any:
    body = {name.rstrip("_"): value for name, value in settings.items()}
    return client.change_json("PUT", f"{ACCOUNT}/wallets/{wallet_id}/card", body)


def get_card(client: JSONClient, wallet_id: int) -> Any:
    return client.get_json(f"{ACCOUNT}/wallets/{wallet_id}/card")


def write_entry(client: JSONClient, type_: str, day: str, amount: int, **f: Any) -> Any:
    body = {"type": type_, "date": day, "amount": amount} | f
    return client.create_json(f"{ACCOUNT}/entries", body)


def buy(client: JSONClient, card: int, day: str, amount: int, **fields: Any) -> Any:
    return write_entry(client, "expense", day, amount, walletId=card, **fields)


def move(
    client: JSONClient, source: int, target: int, day: str, amount: int, **f: Any
) -> Any:
    return write_entry(
        client, "transfer", day, amount, walletId=source, toWalletId=target, **f
    )


def get_bill(client: JSONClient, card: int, month: str) -> Any:
    return client.get_json(f"{ACCOUNT}/wallets/{card}/bills/{month}")


def list_bills(client: JSONClient, card: int, **query: Any) -> Any:
    return client.get_json(f"{ACCOUNT}/wallets/{card}/bills", **query)


def pay(client: JSONClient, card: int, month: str, **body: Any) -> Any:
    return client.send("POST", f"{ACCOUNT}/wallets/{card}/bills/{month}/pay", body)


def pick(bill: Any, *names: str) -> dict[str, Any]:
    return {name: bill[name] for name in names}


def find_imbalance(client: JSONClient, cards: list[int]) -> int:
    """Return -(sum of balances) less what the answers say is owed; 0 is right.

    The sum of `remaining` of the closed bills and the open one, and what is not billed
    yet, less the credit.
    """
    wallets = client.get_json(f"{ACCOUNT}/wallets")
    balance = sum(each["balance"] for each in wallets if each["id"] in cards)
    settings = get_card(client, cards[0])
    first = settings["from"]
    bills = list_bills(client, cards[0], **{"from": _first_month(client, cards[0])})
    assert first is not None
    owed = 0
    for bill in bills:
        owed += bill["remaining"]
        if bill["status"] == "OPEN":
            break
    return int(-balance - (owed + settings["unbilled"] - settings["credit"]))


def _first_month(client: JSONClient, card: int) -> str:
    bills = list_bills(client, card)
    return str(bills[0]["month"])
