"""The load of card notifications: what their members need, and the requests.

Every text of the given samples is sent: approvals, cancellations, declines, adverts and
others, in won and in other currencies. The time of receipt is in another year in every
run, so that a text with a date without a year is a new payment.
"""

import json

import psycopg

from card_alerts import parse
from tests.support.alert_samples import GIVEN, RECEIVED_AT, load

PATH = "/api/account/entries/notification"
# In the future, so that all exchange rates are those of today, which are stored.
FIRST_YEAR = 2030


def prepare_intake(connection: psycopg.Connection) -> None:
    """Give all members the plan, two cards, and a rate of every currency."""
    connection.execute("UPDATE member SET plan = 'PREMIUM'")
    for number, kind, name in ((1, "CARD", "신한"), (2, "CHECK_CARD", "KB국민")):
        connection.execute(
            "UPDATE account SET kind = %s, name = %s"
            " WHERE name = 'Wallet ' || %s::text",
            [kind, name, number],
        )
    # No provider is asked: each payment is of a day that is printed, or of today or
    # tomorrow, since midnight may be near.
    for message in load(GIVEN):
        parsed = parse(message["text"], RECEIVED_AT)
        connection.execute(
            "INSERT INTO fx_rate"
            " (base, quote, day, rate, rate_date, source, fetched_at)"
            " SELECT %s, 'KRW', day, 1000, day, 'benchmark', now()"
            " FROM unnest(ARRAY[%s, current_date, current_date + 1]) AS day"
            " WHERE day IS NOT NULL ON CONFLICT DO NOTHING",
            [parsed.currency or "USD", parsed.occurred_on],
        )


def make_notifications(number: int) -> list[tuple[str, str, str]]:
    """Return the requests of a run: method, path and body."""
    received_at = f"{FIRST_YEAR + number}-12-31T23:59:00+09:00"
    return [
        ("POST", PATH, json.dumps({"text": message["text"], "receivedAt": received_at}))
        for message in load(GIVEN)
    ]
