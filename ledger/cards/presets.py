"""Days of issuers, offered and never applied (spec 3.30).

Issuers' tables contradict one another, and days such as "the day before the last" have
no number: those are left out. `checkedOn` says when a row was compared.
"""

import json
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("presets.json")


class Preset(NamedTuple):
    issuer: str
    payment_day: int
    closing_day: int
    payment_month: int
    checked_on: date


@cache
def list_presets() -> tuple[Preset, ...]:
    """Return the known days, by issuer and payment day."""
    return tuple(
        Preset(
            issuer["issuer"],
            each["paymentDay"],
            each["closingDay"],
            each["paymentMonth"],
            date.fromisoformat(issuer["checkedOn"]),
        )
        for issuer in json.loads(_FILE.read_text())
        for each in issuer["schedules"]
    )
