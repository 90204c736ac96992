"""Who is told of a decision: the author, and those who reported."""

from collections.abc import Iterable

from django.conf import settings

from accounts.inbox.items import add_items, add_items_about
from accounts.mail.outbox import is_mail_configured, queue_mail
from board.models import ModerationCase, OutsideReport, Report

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


def tell_outside_reporters(case: ModerationCase, action: str) -> None:
    """Mail what was decided, and why it may change."""
    # They gave their reports while mail was configured.
    if not is_mail_configured():
        return
    is_gone = case.target_gone == ModerationCase.Gone.AUTHOR
    support = settings.ABOUT["support"] or {}
    reports = OutsideReport.objects.filter(case=case).exclude(email="")
    for report in reports.order_by("confirmed_at"):
        context = {
            "target": report.target_path,
            "outcome": "GONE" if is_gone else action,
            "until": case.blind_until,
            "contact": support.get("email") or support.get("url"),
        }
        queue_mail(
            None,
            "outside_report_decided",
            context,
            to=report.email,
            language=report.language,
        )
