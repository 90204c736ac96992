"""Who is told of a decision: the author, and those who reported."""

from collections.abc import Iterable

from accounts.inbox.items import add_items, add_items_about
from board.models import ModerationCase, Report

CASE = "CASE"


def tell_author(case: ModerationCase) -> None:
    add_items([case.author_id], "CONTENT_HIDDEN", target_type=CASE, target_id=case.pk)


def tell_authors(cases: Iterable[tuple[int, int]]) -> None:
    """Tell authors of decisions: pairs of author and case."""
    add_items_about(cases, "CONTENT_HIDDEN", target_type=CASE)


def tell_silenced(case: ModerationCase) -> None:
    add_items([case.author_id], "SILENCED", target_type=CASE, target_id=case.pk)


def tell_reporters(case: ModerationCase) -> None:
    # Reporters who leave wait for their rows.
    reports = Report.objects.select_for_update(no_key=True).filter(case=case)
    reporters = list(reports.order_by("member_id").values_list("member_id", flat=True))
    add_items(reporters, "REPORT_RESOLVED", target_type=CASE, target_id=case.pk)
