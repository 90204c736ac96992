"""CAMT.053 (and 052, 054), the XML of statements of ISO 20022, by defusedxml."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from ledger.imports.formats.cells import InvalidFileError, RawTable, Row
from ledger.imports.formats.statement_columns import BALANCE_COLUMNS, CAMT_COLUMNS

_STATEMENTS = frozenset({"Stmt", "Rpt", "Ntfctn"})
# Closing balances, the later ones are the better.
_CLOSING = ("ITBD", "CLAV", "CLBD")


def read_camt(data: bytes) -> Iterator[RawTable]:
    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        raise InvalidFileError("entities") from None
    except (ParseError, ValueError, LookupError):
        raise InvalidFileError("damaged") from None
    _drop_namespaces(root)
    statements = [each for each in root.iter() if each.tag in _STATEMENTS]
    if not statements:
        raise InvalidFileError("damaged")
    rows: list[Row] = [CAMT_COLUMNS]
    balances: list[Row] = [BALANCE_COLUMNS]
    for statement in statements:
        account = _account(statement)
        for entry in statement.iter("Ntry"):
            rows += _list_rows(account, entry)
        balances += _list_balances(account, statement)
    yield RawTable("camt053", "transactions", rows)
    yield RawTable("camt053", "balances", balances)


def _drop_namespaces(root: Element) -> None:
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]


def _text(element: Element, *paths: str) -> str:
    """Return the first text that one of the paths has."""
    for path in paths:
        found = element.findtext(path)
        if found and found.strip():
            return found.strip()
    return ""


def _account(statement: Element) -> tuple[str, str]:
    number = _text(statement, "Acct/Id/IBAN", "Acct/Id/Othr/Id")
    return number, _text(statement, "Acct/Ccy")


def _list_rows(account: tuple[str, str], entry: Element) -> Iterator[list[str]]:
    """Yield the entry, or its parts if each has an amount in the entry's currency."""
    amount = entry.find("Amt")
    if amount is None:
        return
    parts = entry.findall("NtryDtls/TxDtls")
    amounts = [each.find("Amt") for each in parts]
    currency = amount.get("Ccy", "")
    is_batch = len(parts) > 1 and all(
        each is not None and each.get("Ccy", currency) == currency for each in amounts
    )
    if is_batch:
        for part, each in zip(parts, amounts, strict=True):
            yield _make_row(account, entry, part, each)
    else:
        yield _make_row(account, entry, parts[0] if parts else None, amount)


def _make_row(
    account: tuple[str, str], entry: Element, part: Element | None, amount: Any
) -> list[str]:
    details = entry if part is None else part
    is_debit = _text(details, "CdtDbtInd") or _text(entry, "CdtDbtInd")
    sign = "-" if is_debit == "DBIT" else ""
    party = "Cdtr" if sign else "Dbtr"
    instructed = "AmtDtls/InstdAmt"
    original = details.find(f"{instructed}/Amt")
    currency = amount.get("Ccy", account[1])
    is_foreign = original is not None and original.get("Ccy") != currency
    texts = [each.text for each in details.iter("Ustrd") if each.text]
    return [
        *account,
        _text(entry, "BookgDt/Dt", "BookgDt/DtTm", "ValDt/Dt", "ValDt/DtTm"),
        sign + (amount.text or "").strip(),
        currency,
        _text(entry, "Sts/Cd", "Sts"),
        _text(
            details,
            f"RltdPties/{party}/Pty/Nm",
            f"RltdPties/{party}/Nm",
            f"RltdPties/Ultmt{party}/Nm",
        ),
        " ".join(texts) or _text(entry, "AddtlNtryInf") or _text(details, "AddtlTxInf"),
        # One reference of the bank may cover a whole batch.
        _text(details, "Refs/AcctSvcrRef", "Refs/TxId", "Refs/InstrId")
        or _text(entry, "AcctSvcrRef", "NtryRef"),
        (original.text or "").strip() if is_foreign and original is not None else "",
        original.get("Ccy", "") if is_foreign and original is not None else "",
        _text(details, f"{instructed}/CcyXchg/XchgRate", ".//CcyXchg/XchgRate"),
        _text(entry, "RvslInd"),
    ]


def _list_balances(account: tuple[str, str], statement: Element) -> Iterator[list[str]]:
    found: dict[str, Element] = {
        _text(each, "Tp/CdOrPrtry/Cd"): each for each in statement.findall("Bal")
    }
    closing = [found[code] for code in _CLOSING if code in found]
    if not closing:
        return
    balance = closing[-1]
    sign = "-" if _text(balance, "CdtDbtInd") == "DBIT" else ""
    day = _text(balance, "Dt/Dt", "Dt/DtTm")[:10]
    yield [account[0], "", account[1], sign + _text(balance, "Amt"), day]
