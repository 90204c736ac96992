"""The currencies, their names and their signs."""

from card_alerts.tables import read_currencies

_CURRENCIES = read_currencies("currencies.toml")

CURRENCY_CODES = frozenset(_CURRENCIES.codes)
CURRENCY_WORDS = _CURRENCIES.code_by_word
CURRENCY_SIGNS = _CURRENCIES.code_by_sign
CURRENCY_LETTERS = _CURRENCIES.code_by_letters
