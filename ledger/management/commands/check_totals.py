"""`check_totals`: compare the rollup tables with the entries."""

from core.db.rollup_audit import RollupAuditCommand
from ledger.rollup_audit import LOCKED_TABLES, ROLLUPS


class Command(RollupAuditCommand):
    help = (
        "Compares the rollup tables, in which triggers maintain totals of the entries "
        "(by month, by day, by category and wallet …), with the entries themselves, "
        "and exits with 1 if any row differs. With --repair the tables are rebuilt "
        "first; writers of entries wait until that is done."
    )
    rollups = ROLLUPS
    locked_tables = LOCKED_TABLES
