"""`check_board_counters`: verify the board's counters and the members' points."""

from board.counter_audit import LOCKED_TABLES, ROLLUPS
from core.db.rollup_audit import RollupAuditCommand


class Command(RollupAuditCommand):
    help = (
        "Compares the counters of posts and comments with their votes and comments, "
        "the stored counts of posts with the posts, and the points of members with "
        "their history. Exits with 1 if any differs. With --repair they are rebuilt "
        "first; writers of the board wait until that is done."
    )
    rollups = ROLLUPS
    locked_tables = LOCKED_TABLES
