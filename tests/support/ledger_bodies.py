"""Addresses of categories and wallets, and bodies that make one."""

CATEGORIES = "/api/account/categories"
PLAIN_CATEGORY = {"name": "Food", "type": "expense"}


WALLETS = "/api/account/wallets"
PLAIN_WALLET = {"name": "Cash", "kind": "CASH"}
