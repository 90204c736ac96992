"""Print the payments of a text on standard input: `python -m card_alerts < text`.

The output is a JSON array; the time of receipt is now, in Korea.
"""

import argparse
import json
import sys
from dataclasses import asdict
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from card_alerts.parser import parse_all

TIME_ZONE = ZoneInfo("Asia/Seoul")


def main() -> None:
    parser = argparse.ArgumentParser(prog="card_alerts", description=__doc__)
    parser.add_argument("--sender", default="", help="a phone number, name or package")
    parser.add_argument("--title", default="", help="the title of a push message")
    arguments = parser.parse_args()
    results = parse_all(
        sys.stdin.read(),
        datetime.now(TIME_ZONE),  # noqa: TID251  # a program without Django
        arguments.sender,
        title=arguments.title,
    )
    json.dump(
        [asdict(result) for result in results],
        sys.stdout,
        ensure_ascii=False,
        indent=2,
        default=_to_json,
    )
    sys.stdout.write("\n")


def _to_json(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


if __name__ == "__main__":
    main()
