"""What a member has chosen for a file, and what is guessed otherwise. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ledger.entry_shape import EXPENSE, INCOME
from ledger.imports.keys import WalletRef
from ledger.imports.records import (
    ColumnMapping,
    Direction,
    MappedColumn,
    Record,
    RecordKind,
)
from ledger.imports.texts import normalize_text
from ledger.models.base import MAX_NAME_LENGTH

# The first that is found in a name decides.
_KINDS = (
    ("CHECK_CARD", "체크|debit|check card"),
    ("CARD", "카드|card|visa|master|amex"),
    ("CASH", "현금|지갑|cash|wallet"),
    ("LOAN", "대출|loan|mortgage"),
    ("PENSION", "연금|pension|irp|401k"),
    ("INVESTMENT", "증권|주식|펀드|투자|invest|broker|isa"),
    ("PREPAID", "페이|포인트|머니|상품권|pay|point|gift"),
)
_DEFAULT_KIND = "BANK"


@dataclass(frozen=True, slots=True)
class WalletChoice:
    """The wallet that a name of the file is: one of the ledger, or a new one."""

    wallet_id: int | None = None
    create_kind: str | None = None


class CategoryName(NamedTuple):
    """A category as the file names it; `parent` is the major one of a minor one."""

    type: str
    parent: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Choices:
    """What the member has sent with a file and since.

    Names of wallets and categories are those of the file. A category of None leaves
    the rows without one.
    """

    source: str | None = None
    wallet_id: int | None = None
    mapping: ColumnMapping | None = None
    wallets: Mapping[str, WalletChoice] = field(default_factory=dict)
    categories: Mapping[CategoryName, str | None] = field(default_factory=dict)
    balances: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "walletId": self.wallet_id,
            "mapping": None if self.mapping is None else asdict(self.mapping),
            "wallets": {name: asdict(each) for name, each in self.wallets.items()},
            "categories": [[*name, each] for name, each in self.categories.items()],
            "balances": self.balances,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Choices":
        mapping = stored["mapping"]
        return cls(
            source=stored["source"],
            wallet_id=stored["walletId"],
            mapping=None if mapping is None else read_mapping(mapping),
            wallets={
                name: WalletChoice(**each) for name, each in stored["wallets"].items()
            },
            categories={
                CategoryName(*name): chosen for *name, chosen in stored["categories"]
            },
            balances=stored["balances"],
        )


def read_mapping(stored: Mapping[str, Any]) -> ColumnMapping:
    """Return the mapping of `dataclasses.asdict`."""
    columns = tuple(MappedColumn(**column) for column in stored["columns"])
    return ColumnMapping(**{**stored, "columns": columns})


class OwnWallet(NamedTuple):
    """A wallet of the ledger; `main_id` is the card on whose bill a card stands."""

    id: int
    name: str
    kind: str
    institution: str
    main_id: int | None = None


@dataclass(frozen=True, slots=True)
class GuessedWallet:
    """What a name of the file becomes.

    `guess` says how a wallet of the ledger was found: by its NAME or its INSTITUTION;
    None for one that the member has chosen, and for a new one.
    """

    name: str | None
    choice: WalletChoice
    guess: str | None
    rows: int


class _OwnNames:
    """The wallets of the ledger by name, and by what a name or institution says."""

    def __init__(self, own: Sequence[OwnWallet]) -> None:
        self._exact = {each.name: each.id for each in own}
        self._by_id = {each.id: each for each in own}
        self._similar: dict[tuple[str, str], list[int]] = defaultdict(list)
        for each in own:
            self._similar["NAME", normalize_text(each.name)].append(each.id)
            for name in _names_of(each):
                self._similar["INSTITUTION", name].append(each.id)

    def find_exact(self, name: str) -> int | None:
        """Return the wallet that the commit would find instead of making one."""
        return self._exact.get(name[:MAX_NAME_LENGTH])

    def guess(self, name: str, *, is_paid: bool) -> tuple[str, int] | None:
        """Return by what a wallet was found, and its id; None unless one fits.

        `is_paid`: rows pay it, and none is booked on it. Of an issuer that is the card
        on whose bill its cards stand.
        """
        if (exact := self.find_exact(name)) is not None:
            return "NAME", exact
        text = normalize_text(name)
        for guess in ("NAME", "INSTITUTION"):
            found: Sequence[int] = self._similar.get((guess, text), ())
            if is_paid and guess == "INSTITUTION":
                found = self._list_mains(found)
            if len(found) == 1:
                return guess, found[0]
        return None

    def _list_mains(self, ids: Sequence[int]) -> Sequence[int]:
        """Return the cards that have the bills of credit cards, else the wallets."""
        wallets = [self._by_id[each] for each in ids]
        mains = {each.main_id or each.id for each in wallets if each.kind == "CARD"}
        return list(mains) or ids


def guess_wallets(
    records: Iterable[Record], choices: Choices, own: Sequence[OwnWallet]
) -> list[GuessedWallet]:
    """Return a line for each name of the file, None for rows without one."""
    counts: Counter[str | None] = Counter()
    booked: set[str | None] = set()
    for record in records:
        counts[record.wallet] += 1
        names = [record.other_wallet, *(line.wallet for line in record.lines)]
        counts.update(name for name in names if name is not None)
        is_payer = record.direction is Direction.OUT
        booked.update(names[1:] if is_payer else names)
        booked.add(record.wallet)
    own_names = _OwnNames(own)
    return [
        _guess(name, rows, choices, own_names, is_paid=name not in booked)
        for name, rows in counts.items()
    ]


def _guess(
    name: str | None, rows: int, choices: Choices, own: _OwnNames, *, is_paid: bool
) -> GuessedWallet:
    if name is None:
        return GuessedWallet(None, WalletChoice(choices.wallet_id), None, rows)
    if (chosen := choices.wallets.get(name)) is not None:
        exact = own.find_exact(name)
        if chosen.wallet_id is None and exact is not None:
            # It was made since, and its rows have keys there.
            chosen = WalletChoice(exact)
        return GuessedWallet(name, chosen, None, rows)
    if (found := own.guess(name, is_paid=is_paid)) is not None:
        guess, wallet_id = found
        return GuessedWallet(name, WalletChoice(wallet_id), guess, rows)
    kind = guess_kind(name)
    return GuessedWallet(name, WalletChoice(create_kind=kind), None, rows)


def _names_of(wallet: OwnWallet) -> set[str]:
    """Return how files name the only wallet of an institution: 삼성, 삼성카드."""
    name = normalize_text(wallet.institution)
    if not name:
        return set()
    is_card = wallet.kind in {"CARD", "CHECK_CARD"}
    return {name, name + ("카드" if is_card else "은행")}


def guess_kind(name: str) -> str:
    """Return the kind of a new wallet by its name."""
    for kind, pattern in _KINDS:
        if re.search(pattern, name, re.IGNORECASE):
            return kind
    return _DEFAULT_KIND


def resolve_wallet(
    name: str | None, guessed: Mapping[str | None, GuessedWallet]
) -> WalletRef:
    """Return the id of a wallet, or the name of one that the commit makes."""
    choice = guessed[name].choice
    if choice.wallet_id is not None or name is None:
        return choice.wallet_id
    return name[:MAX_NAME_LENGTH]


def category_of(
    record: Record, category: str | None, minor: str | None
) -> CategoryName | None:
    """Return the category that the file names for a record or one of its lines."""
    name = minor or category
    if not name or record.kind in (RecordKind.TRANSFER, RecordKind.OPENING):
        return None
    is_income = record.direction is Direction.IN and record.kind is RecordKind.FLOW
    parent = category if minor and category and minor != category else None
    return CategoryName(
        INCOME if is_income else EXPENSE,
        parent and parent[:MAX_NAME_LENGTH],
        name[:MAX_NAME_LENGTH],
    )


def list_categories(records: Iterable[Record]) -> Counter[CategoryName]:
    """Count the rows of each category that the file names."""
    counts: Counter[CategoryName] = Counter()
    for record in records:
        names = [category_of(record, record.category, record.minor_category)]
        names += [
            category_of(record, line.category, line.minor_category)
            for line in record.lines
        ]
        counts.update(name for name in names if name is not None)
    return counts


def merge(choices: Choices, changes: Mapping[str, Any]) -> Choices:
    """Return the choices with those of a request: wallets and categories add up."""
    wallets = dict(choices.wallets) | changes.get("wallets", {})
    categories = dict(choices.categories) | changes.get("categories", {})
    return replace(choices, **{**changes, "wallets": wallets, "categories": categories})
