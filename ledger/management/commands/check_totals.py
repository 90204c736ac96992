"""`check_totals`: compare the rollup tables with the entries."""

from core.db.rollup_audit import RollupAuditCommand
from core.progress import Progress
from ledger.rollups import ROLLUPS, rebuild_all_rollups


class Command(RollupAuditCommand):
    help = (
        "Compares the rollup tables, in which triggers maintain totals of the entries "
        "(by day, by month and category, by wallet …), with the entries themselves, "
        "and exits with 1 if any row differs. With --repair the tables are rebuilt "
        "first, one member after the other, whose writers wait meanwhile."
    )
    rollups = ROLLUPS

    def repair(self) -> None:
        rebuild_all_rollups(Progress(self.stderr.write))
