"""Who is told of a decision: the author, and those who reported."""

from collections.abc import Collection, Iterable

from django.conf import settings

from accounts.inbox.items import add_items, add_items_about
from accounts.mail.outbox import is_mail_configured, queue_mail
from board.models import (
    Comment,
    Decision,
    HiddenReason,
    ModerationCase,
    OutsideReport,
    Post,
    Report,
    TargetType,
)

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


def tell_outside_reporters(
    case: ModerationCase, action: str, *, has_objected: bool = False
) -> None:
    """Mail what became of the target; call it after the decision was applied.

    A decision in another case that shows it again is mailed, too. `has_objected` says
    that blind content is shown because its author has objected.
    """
    # The operator may have switched mail off since the report.
    if not is_mail_configured():
        return
    about = OutsideReport.objects.filter(
        case__target_type=case.target_type, case__target_id=case.target_id
    )
    reports = list(about.exclude(email="").order_by("confirmed_at"))
    own = [report for report in reports if report.case_id == case.pk]
    if not reports:
        return
    outcome = "OBJECTED" if has_objected else _describe_outcome(case, action)
    for report in own or (reports if outcome == "SHOWN" else []):
        _mail_outcome(report, case, outcome)


def tell_shown_again(target_type: str, target_ids: Collection[int]) -> None:
    """Mail outside reporters that a deed shows again what they reported."""
    if not is_mail_configured():
        return
    about = OutsideReport.objects.filter(
        case__target_type=target_type, case__target_id__in=target_ids
    )
    for report in about.exclude(email="").select_related("case"):
        if report.case is not None:
            _mail_outcome(report, report.case, "SHOWN")


def _describe_outcome(case: ModerationCase, action: str) -> str:
    """Return the state of the target after the decision."""
    columns = ("hidden_reason", "remove_after")
    model = Post if case.target_type == TargetType.POST else Comment
    rows = model._default_manager.filter(pk=case.target_id, member__isnull=False)
    found = rows.values_list(*columns).first()
    if found is None:
        is_by_author = case.target_gone == ModerationCase.Gone.AUTHOR
        return "GONE" if is_by_author else "DELETED"
    hidden_reason, remove_after = found
    if remove_after is not None:
        return "DELETED"
    if hidden_reason is not None:
        return "BLIND" if hidden_reason == HiddenReason.BLIND else "HIDDEN"
    return "SILENCED" if action == Decision.Action.SILENCE else "SHOWN"


def _mail_outcome(report: OutsideReport, case: ModerationCase, outcome: str) -> None:
    support = settings.ABOUT["support"] or {}
    context = {
        "target": report.target_path,
        "outcome": outcome,
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
