"""The names in the first row of the tables of formats that are no tables.

`ofx`, `camt053` and `mt940` have a table `transactions` and a table `balances`; `qif`
has `transactions` and `splits`. Dates are ISO, amounts signed with a point, and empty
cells "" where a file does not say.
"""

# `correction` is DELETE or REPLACE, `corrects` the id that it concerns.
OFX_COLUMNS = (
    *("account", "accountType", "accountCurrency", "date", "type", "amount", "name"),
    *("memo", "id", "currency", "originalCurrency", "rate", "correction", "corrects"),
)
CAMT_COLUMNS = (
    *("account", "accountCurrency", "date", "amount", "currency", "status", "name"),
    *("text", "id", "originalAmount", "originalCurrency", "rate", "reversal"),
)
MT940_COLUMNS = (
    *("account", "accountCurrency", "date", "amount", "type", "name", "text", "id"),
    "reversal",
)
# `transaction` of a split is the row of `transactions`, from 1 with this first row.
QIF_COLUMNS = (
    *("account", "accountType", "date", "amount", "payee", "memo", "category"),
    *("number", "cleared"),
)
QIF_SPLIT_COLUMNS = ("transaction", "category", "memo", "amount")
BALANCE_COLUMNS = ("account", "accountType", "accountCurrency", "amount", "date")
