"""Writes of the storm to quick entries, recurring rules and budgets."""

from dataclasses import dataclass, replace
from typing import Any

from benchmarks.storm.ledger import (
    NEW,
    Entry,
    Template,
)
from benchmarks.storm.ledger_session import (
    FIRST_DUE,
    LAST_DUE_YEAR,
    MAX_ROWS,
    MONTHS,
    ROOT,
    LedgerSession,
    Write,
)


@dataclass
class PlanWrites(LedgerSession):
    """Writes to quick entries, recurring rules and budgets."""

    def make_template(self, next_date: str | None = None) -> Template:
        return Template(
            NEW,
            self.chance.randint(1, 10_000),
            self.pick_category("expense"),
            self.pick(self.ledger.wallets),
            self.make_name("template "),
            self.pick_tags(),
            next_date,
        )

    def create_quick_entry(self) -> Write | None:
        if len(self.ledger.quick_entries) >= MAX_ROWS:
            return None
        return self.create_template("quick_entries", "quick-entries", {})

    def create_rule(self) -> Write | None:
        if len(self.ledger.rules) >= MAX_ROWS:
            return None
        schedule = {"frequency": "YEARLY", "anchorDate": FIRST_DUE}
        return self.create_template("rules", "recurring", schedule, FIRST_DUE)

    def create_template(
        self, section: str, path: str, extra: Any, next_date: str | None = None
    ) -> Write:
        name, row = self.make_name("q"), self.make_template(next_date)
        after = self.ledger.put(section, name, row)
        body = self.to_body(row) | extra | {"name": name}
        created = (section, name)
        return Write("POST", f"{ROOT}/{path}", body, 201, after, created=created)

    def delete_quick_entry(self) -> Write | None:
        return self.delete_template("quick_entries", "quick-entries")

    def delete_rule(self) -> Write | None:
        return self.delete_template("rules", "recurring")

    def delete_template(self, section: str, path: str) -> Write | None:
        rows = getattr(self.ledger, section)
        name = self.pick(rows)
        if name is None:
            return None
        after = self.ledger.drop(section, name)
        return Write("DELETE", f"{ROOT}/{path}/{rows[name].id}", None, 204, after)

    def run_rule(self) -> Write | None:
        """Book the next due date of a rule; the next is a year later."""
        name = self.pick(self.ledger.rules)
        if name is None:
            return None
        rule = self.ledger.rules[name]
        year, rest = (rule.next_date or FIRST_DUE).split("-", 1)
        if int(year) > LAST_DUE_YEAR:
            return None
        entry = Entry(
            f"{year}-{rest}",
            "expense",
            rule.amount,
            rule.category,
            rule.wallet,
            rule.memo,
            rule.tags,
        )
        next_rule = rule._replace(next_date=f"{int(year) + 1}-{rest}")
        after = self.ledger.put("rules", name, next_rule)
        after = replace(after, new_entries=(entry,))
        path = f"{ROOT}/recurring/{rule.id}/run"
        created = ("new_entries", None)
        return Write("POST", path, None, 201, after, created=created)

    def set_budget(self) -> Write | None:
        """Create a budget or change one; a second one of a month is refused."""
        category = self.pick_category("expense")
        if category is None:
            return None
        month, amount = self.chance.choice(MONTHS), self.chance.randint(1, 99_999)
        key = category, month
        body = {"category": category, "year": month.year, "month": month.month}
        body["amount"] = amount
        path = f"{ROOT}/budgets"
        if key not in self.ledger.budgets:
            after = self.ledger.put("budgets", key, (NEW, amount))
            return Write("POST", path, body, 201, after, created=("budgets", key))
        if self.chance.random() < 0.2:
            return Write("POST", path, body, 409, self.ledger, "DUPLICATE")
        budget_id = self.ledger.budgets[key][0]
        after = self.ledger.put("budgets", key, (budget_id, amount))
        return Write("PUT", f"{path}/{budget_id}", body, 200, after)

    def delete_budget(self) -> Write | None:
        key = self.pick(self.ledger.budgets)
        if key is None:
            return None
        after = self.ledger.drop("budgets", key)
        path = f"{ROOT}/budgets/{self.ledger.budgets[key][0]}"
        return Write("DELETE", path, None, 204, after)

    def copy_budgets(self) -> Write:
        source, target = self.chance.sample(MONTHS, 2)
        after = self.ledger
        for (category, month), (_, amount) in self.ledger.budgets.items():
            if month == source:
                known = self.ledger.budgets.get((category, target), (NEW, 0))
                after = after.put("budgets", (category, target), (known[0], amount))
        body = {"fromYear": source.year, "fromMonth": source.month}
        body |= {"toYear": target.year, "toMonth": target.month}
        return Write("POST", f"{ROOT}/budgets/copy", body, 200, after)

    def set_income(self) -> Write:
        month, amount = self.chance.choice(MONTHS), self.chance.randint(0, 99_999)
        body = {"year": month.year, "month": month.month, "amount": amount}
        after = self.ledger.put("incomes", month, amount)
        return Write("PUT", f"{ROOT}/budgets/income", body, 200, after)
