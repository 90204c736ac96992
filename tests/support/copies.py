"""A client that keeps a copy of a ledger by the feed of changes (spec 3.26)."""

import hashlib
from collections import defaultdict
from typing import Any

from tests.support.clients import JSONClient

CHANGES = "/api/account/changes"


class Copy:
    """Rows by kind and id, as a client has read them; `seen` has every change."""

    def __init__(self, client: JSONClient, size: int = 500) -> None:
        self.client, self.size = client, size
        self.rows: dict[tuple[str, int], Any] = {}
        self.balances: list[Any] = []
        self.cursor: str | None = None
        self.seen: list[Any] = []

    def read_page(self) -> Any:
        query = {"size": self.size} | ({"since": self.cursor} if self.cursor else {})
        page = self.client.get_json(CHANGES, **query)
        for change in page["changes"]:
            self.apply(change)
        self.cursor = page["cursor"]
        if not page["hasMore"]:
            self.balances = page["balances"]
        return page

    def read(self) -> None:
        """Read all that there is now."""
        while self.read_page()["hasMore"]:
            pass

    def apply(self, change: Any) -> None:
        self.seen.append(change)
        key = change["kind"], change["id"]
        known = self.rows.get(key)
        if known and known["version"] >= change["version"]:
            return
        if change["deleted"]:
            self.rows.pop(key, None)
            if change["kind"] == "tag":
                self._take_off(change["id"])
        else:
            self.rows[key] = change

    def _take_off(self, tag_id: int) -> None:
        """Take a deleted tag off its entries, which have no new version for it."""
        for row in self.rows.values():
            if tag_id in row["data"].get("tagIds", ()):
                row["data"]["tagIds"].remove(tag_id)

    def compute_digests(self) -> dict[str, Any]:
        """Return what `/changes/digest` must answer, for kinds with rows."""
        sums: dict[str, int] = defaultdict(int)
        counts: dict[str, int] = defaultdict(int)
        for (kind, row_id), row in self.rows.items():
            text = f"{kind}:{row_id}:{row['version']}"
            sums[kind] += int(hashlib.md5(text.encode()).hexdigest()[:15], 16)
            counts[kind] += 1
        return {
            kind: {"count": counts[kind], "digest": str(total % 2**60)}
            for kind, total in sums.items()
        }

    def is_whole(self) -> bool:
        """Return True if the copy is the server's."""
        told = self.client.get_json(f"{CHANGES}/digest")["kinds"]
        return {k: v for k, v in told.items() if v["count"]} == self.compute_digests()
