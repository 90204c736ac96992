"""Writes of the storm to wallets, categories and tags."""

from dataclasses import dataclass, replace
from typing import Any

from benchmarks.storm.ledger import (
    NEW,
    Category,
    Wallet,
)
from benchmarks.storm.ledger_session import (
    KINDS,
    MAX_ROWS,
    ROOT,
    TYPES,
    LedgerSession,
    Write,
)


@dataclass
class RegisterWrites(LedgerSession):
    """Writes to wallets, categories and tags."""

    def create_wallet(self) -> Write | None:
        if len(self.ledger.wallets) >= MAX_ROWS:
            return None
        is_taken = bool(self.ledger.wallets) and self.chance.random() < 0.1
        name = self.pick(self.ledger.wallets) if is_taken else self.make_name("w")
        opening = self.chance.randint(-9999, 9999)
        wallet = Wallet(NEW, self.chance.choice(KINDS), opening)
        body = {"name": name, "kind": wallet.kind}
        body |= {"openingBalance": wallet.opening_balance}
        path = f"{ROOT}/wallets"
        if is_taken:
            return Write("POST", path, body, 409, self.ledger, "DUPLICATE")
        after = self.ledger.put("wallets", name, wallet)
        return Write("POST", path, body, 201, after, created=("wallets", name))

    def change_wallet(self) -> Write | None:
        old = self.pick(self.ledger.wallets)
        if old is None:
            return None
        new, opening = self.make_name("w"), self.chance.randint(-9999, 9999)
        wallet = self.ledger.wallets[old]._replace(opening_balance=opening)
        after = self.ledger.put("wallets", old, wallet).rename("wallets", old, new)
        after = after.refer("wallet", old, new)
        body = {"name": new, "kind": wallet.kind, "openingBalance": opening}
        return Write("PUT", f"{ROOT}/wallets/{wallet.id}", body, 200, after)

    def delete_wallet(self) -> Write | None:
        name = self.pick(self.ledger.wallets)
        if name is None:
            return None
        path = f"{ROOT}/wallets/{self.ledger.wallets[name].id}"
        others = [each for each in self.ledger.wallets if each != name]
        after = self.ledger.drop("wallets", name)
        if others and self.chance.random() < 0.5:
            target = self.chance.choice(others)
            path += f"?moveTo={self.ledger.wallets[target].id}"
            after = after.refer("wallet", name, target)
        elif self.ledger.uses("wallet", name):
            return Write("DELETE", path, None, 409, self.ledger, "IN_USE")
        return Write("DELETE", path, None, 204, after)

    def create_category(self) -> Write | None:
        if len(self.ledger.categories) >= 2 * MAX_ROWS:
            return None
        name, type_ = self.make_name("c"), self.chance.choice(TYPES)
        parent = self.pick_parent(type_, name)
        body = self.category_body(name, type_, parent)
        after = self.ledger.put("categories", name, Category(NEW, type_, parent))
        path = f"{ROOT}/categories"
        created = ("categories", name)
        if parent is not None and self.ledger.categories[parent].parent is not None:
            code = "CATEGORY_HIERARCHY"
            return Write("POST", path, body, 400, self.ledger, code)
        return Write("POST", path, body, 201, after, created=created)

    def pick_parent(self, type_: str, name: str) -> str | None:
        rows = self.ledger.categories.items()
        names = [each for each, row in rows if row.type == type_ and each != name]
        return self.chance.choice([*names, None])

    def category_body(self, name: str, type_: str, parent: str | None) -> Any:
        parent_id = parent and self.ledger.categories[parent].id
        return {"name": name, "type": type_, "parentId": parent_id}

    def change_category(self) -> Write | None:
        """Rename a category and move it to another parent, last among its siblings."""
        old = self.pick(self.ledger.categories)
        if old is None:
            return None
        new, row = self.make_name("c"), self.ledger.categories[old]
        parent = self.pick_parent(row.type, old)
        path, body = (
            f"{ROOT}/categories/{row.id}",
            self.category_body(new, row.type, parent),
        )
        is_minor_parent = (
            parent is not None and self.ledger.categories[parent].parent is not None
        )
        if is_minor_parent or (parent is not None and self.ledger.list_minors(old)):
            code = "CATEGORY_HIERARCHY"
            return Write("PUT", path, body, 400, self.ledger, code)
        after = self.ledger
        if parent != row.parent:
            after = after.drop("categories", old)
            after = after.put("categories", old, row._replace(parent=parent))
        after = after.rename("categories", old, new)
        for name in self.ledger.list_minors(old):
            minor = self.ledger.categories[name]._replace(parent=new)
            after = after.put("categories", name, minor)
        budgets = {
            (new if category == old else category, month): budget
            for (category, month), budget in after.budgets.items()
        }
        after = replace(after.refer("category", old, new), budgets=budgets)
        return Write("PUT", path, body, 200, after)

    def delete_category(self) -> Write | None:
        name = self.pick(self.ledger.categories)
        if name is None:
            return None
        row = self.ledger.categories[name]
        path, after = f"{ROOT}/categories/{row.id}", self.ledger
        if after.list_minors(name):
            code = "CATEGORY_HIERARCHY"
            return Write("DELETE", path, None, 400, after, code)
        others = [
            each
            for each, other in after.categories.items()
            if other.type == row.type and each != name
        ]
        if others and self.chance.random() < 0.5:
            target = self.chance.choice(others)
            path += f"?moveTo={after.categories[target].id}"
            after = after.refer("category", name, target).merge_budgets(name, target)
        elif after.uses("category", name) or any(
            category == name for category, _ in after.budgets
        ):
            return Write("DELETE", path, None, 409, self.ledger, "IN_USE")
        return Write("DELETE", path, None, 204, after.drop("categories", name))

    def create_tag(self) -> Write | None:
        if len(self.ledger.tags) >= MAX_ROWS:
            return None
        name = self.make_name("t")
        after = self.ledger.put("tags", name, NEW)
        path, body = f"{ROOT}/tags", {"name": name}
        return Write("POST", path, body, 201, after, created=("tags", name))

    def rename_tag(self) -> Write | None:
        old = self.pick(self.ledger.tags)
        if old is None:
            return None
        new = self.make_name("t")
        after = self.ledger.rename("tags", old, new)
        after = after.refer_to_tags(lambda tag: new if tag == old else tag)
        path = f"{ROOT}/tags/{self.ledger.tags[old]}"
        return Write("PUT", path, {"name": new}, 200, after)

    def delete_tag(self) -> Write | None:
        name = self.pick(self.ledger.tags)
        if name is None:
            return None
        after = self.ledger.drop("tags", name)
        after = after.refer_to_tags(lambda tag: None if tag == name else tag)
        path = f"{ROOT}/tags/{self.ledger.tags[name]}"
        return Write("DELETE", path, None, 204, after)

    def reorder(self) -> Write:
        """Give wallets or tags another order."""
        section = self.chance.choice(["wallets", "tags"])
        rows = getattr(self.ledger, section)
        names = self.chance.sample(list(rows), len(rows))
        ids = [getattr(rows[name], "id", rows[name]) for name in names]
        after = self.ledger.arrange(section, names)
        return Write("PUT", f"{ROOT}/{section}/reorder", {"ids": ids}, 200, after)
