"""The address of wallets, and a body that makes one."""

WALLETS = "/api/account/wallets"
PLAIN = {"name": "Cash", "kind": "CASH"}
