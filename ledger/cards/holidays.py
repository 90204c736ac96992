"""Days on which banks of the home country are closed (spec 3.30)."""

import logging
from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache

import holidays
from django.conf import settings

logger = logging.getLogger(__name__)

_SATURDAY = 5
_ONE_DAY = timedelta(days=1)


@lru_cache(maxsize=64)
def list_holidays(country: str, year: int) -> Mapping[date, str]:
    """Return the public holidays of a year by day, substitute holidays too.

    A country or year that the library does not know has none, which is logged once.
    """
    try:
        found = holidays.country_holidays(country, years=year, expand=False)
    except NotImplementedError:
        found = None
    if not found:
        logger.warning(
            "no public holidays of %s are known for %s: only weekends count",
            country,
            year,
        )
        return {}
    return dict(found.items())


def is_business_day(day: date) -> bool:
    if day.weekday() >= _SATURDAY:
        return False
    return day not in list_holidays(settings.HOME_COUNTRY, day.year)


def next_business_day(day: date) -> date:
    """Return the day itself or the first business day after it."""
    while not is_business_day(day):
        day += _ONE_DAY
    return day


def previous_business_day(day: date) -> date:
    """Return the day itself or the last business day before it."""
    while not is_business_day(day):
        day -= _ONE_DAY
    return day
