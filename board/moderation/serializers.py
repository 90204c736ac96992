"""Serializers of reports, cases and decisions (spec 5.10)."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from accounts.models.members import MAX_REASON_LENGTH
from board.models import (
    APPEAL_LENGTH,
    NOTE_LENGTH,
    Decision,
    ModerationCase,
    ReportReason,
    TargetType,
)
from board.moderation.decisions import MAX_SILENCE_DAYS
from board.serializers.posts import AuthorSerializer
from core.api.fields import (
    FutureDateTimeField,
    OpenTextField,
    StrictCharField,
    StrictDateTimeField,
    StrictIntegerField,
)
from core.api.serializers import QuerySerializer, Serializer

REASONS = ReportReason.values
# People whose rights are hurt say so from outside (spec 5.13).
REPORT_REASONS = [each for each in REASONS if each != ReportReason.DEFAMATION]
ACTIONS = Decision.Action.values


class ReportRequestSerializer(Serializer):
    reason = serializers.ChoiceField(
        choices=REPORT_REASONS, help_text="What is wrong with it."
    )
    note = StrictCharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=NOTE_LENGTH,
        help_text="More about it, for staff.",
    )


class CaseQuerySerializer(QuerySerializer):
    """Filters of the queue, combined with AND."""

    status = serializers.ChoiceField(
        choices=[ModerationCase.Status.OPEN, ModerationCase.Status.RESOLVED],
        default=ModerationCase.Status.OPEN,
        help_text="Only cases in this state.",
    )
    kind = serializers.ChoiceField(
        choices=ModerationCase.Kind.values,
        required=False,
        help_text="Only cases that began like this.",
    )
    reason = serializers.ChoiceField(
        choices=REASONS,
        required=False,
        help_text="Only cases with this reason, that of the first report.",
    )


class JudgementRequestSerializer(Serializer):
    action = serializers.ChoiceField(
        choices=ACTIONS,
        help_text=(
            "`DISMISS` shows what was hidden, `BLIND` hides it for the days that the "
            "law gives, `DELETE` removes it after `boardKeptDays`, `SILENCE` leaves it "
            "as it is."
        ),
    )
    reason = serializers.ChoiceField(
        choices=REASONS,
        required=False,
        help_text="What the author is told; required unless the case is dismissed.",
    )
    note = StrictCharField(
        required=False,
        allow_blank=True,
        max_length=NOTE_LENGTH,
        help_text="For other moderators.",
    )
    silence_days = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=MAX_SILENCE_DAYS,
        help_text="The author writes nothing on the board for so many days.",
    )
    target_updated_at = StrictDateTimeField(
        required=False,
        allow_null=True,
        help_text=(
            "`target.updatedAt` of the case as it was read: another text is 412 "
            "`VERSION_CONFLICT`."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["action"] != Decision.Action.DISMISS and not attrs.get("reason"):
            text = gettext("This field is required.")
            raise serializers.ValidationError({"reason": text}, code="required")
        return attrs


class HideRequestSerializer(Serializer):
    reason = serializers.ChoiceField(
        choices=REASONS, help_text="What the author is told."
    )
    note = StrictCharField(
        required=False,
        allow_blank=True,
        max_length=NOTE_LENGTH,
        help_text="For other moderators.",
    )


class SilenceSerializer(Serializer):
    until = FutureDateTimeField(
        help_text="Until when the member writes nothing on the board."
    )
    reason = StrictCharField(
        max_length=MAX_REASON_LENGTH, help_text="Why; the member reads it."
    )


class AppealRequestSerializer(Serializer):
    text = StrictCharField(
        max_length=APPEAL_LENGTH, help_text="What the author says against it."
    )


class DecisionSerializer(Serializer):
    """What was done in a case."""

    action = OpenTextField(known_values=ACTIONS, help_text="What was done.")
    reason = OpenTextField(
        known_values=REASONS, allow_null=True, help_text="What the author was told."
    )
    note = serializers.CharField(help_text="For other moderators.")
    silence_days = serializers.IntegerField(
        allow_null=True, help_text="For how many days the author was silenced."
    )
    decided_by_id = serializers.IntegerField(
        allow_null=True,
        help_text="Id of the moderator; null for the service and for one who has left.",
    )
    automatic = serializers.BooleanField(
        help_text="Whether reports alone have hidden it."
    )
    final = serializers.BooleanField(
        help_text="Whether nothing can be said against it."
    )
    decided_at = serializers.DateTimeField(help_text="When it was decided.")
    appeal = serializers.CharField(
        allow_null=True, help_text="What the author said against it."
    )
    appealed_at = serializers.DateTimeField(
        allow_null=True, help_text="When the author said so; or null."
    )


class CaseSerializer(Serializer):
    """A case in the queue."""

    id = serializers.IntegerField()
    kind = OpenTextField(
        known_values=ModerationCase.Kind.values,
        help_text="How it began: `STAFF` acted without a report.",
    )
    status = OpenTextField(
        known_values=ModerationCase.Status.values, help_text="Its state."
    )
    reason = OpenTextField(
        known_values=REASONS, allow_null=True, help_text="That of the first report."
    )
    target_type = OpenTextField(
        known_values=TargetType.values, help_text="What it is about."
    )
    target_id = serializers.IntegerField(help_text="Id of the target.")
    post_id = serializers.IntegerField(
        allow_null=True, help_text="The post itself, or the one of the comment."
    )
    author = AuthorSerializer(
        allow_null=True, help_text="Who wrote it; null once they have left."
    )
    title = serializers.CharField(help_text="As it was when the case was opened.")
    content = serializers.CharField(help_text="As it was when the case was opened.")
    report_count = serializers.IntegerField(help_text="Number of reporters.")
    outside_report_count = serializers.IntegerField(
        help_text="Number of reports from outside."
    )
    target_gone = OpenTextField(
        known_values=ModerationCase.Gone.values,
        allow_null=True,
        help_text="Who has deleted the target; null while it is there.",
    )
    opened_at = serializers.DateTimeField(
        help_text="When it was opened, or opened again."
    )
    blind_until = serializers.DateTimeField(
        allow_null=True, help_text="When a blind target is shown again or deleted."
    )
    appealed = serializers.BooleanField(
        help_text="Whether its author has said something against the last decision."
    )


class CaseTargetSerializer(Serializer):
    state = OpenTextField(
        known_values=["SHOWN", "STAFF", "REPORTS", "HELD", "BLIND"],
        help_text="Whether it is shown, or why it is hidden.",
    )
    title = serializers.CharField(help_text="The title as it is now.")
    content = serializers.CharField(help_text="The text as it is now.")
    updated_at = serializers.DateTimeField(
        allow_null=True, help_text="When title or text changed; null of a member."
    )


class CaseReportSerializer(Serializer):
    id = serializers.IntegerField()
    reason = OpenTextField(known_values=REASONS, help_text="What is wrong with it.")
    note = serializers.CharField(help_text="More about it.")
    reporter = AuthorSerializer(help_text="Only staff learn who reported.")
    created_at = serializers.DateTimeField()


class OutsideReportSerializer(Serializer):
    """A report of somebody without an account, who proved the address by a code."""

    id = serializers.UUIDField()
    reason = OpenTextField(known_values=REASONS, help_text="What is wrong with it.")
    text = serializers.CharField(help_text="Which words, and why.")
    name = serializers.CharField(
        help_text="Who reported; empty 90 days after the decision."
    )
    email = serializers.CharField(
        allow_null=True,
        help_text="Their address, for administrators; null for moderators.",
    )
    created_at = serializers.DateTimeField()


class EarlierCaseSerializer(Serializer):
    id = serializers.IntegerField()
    kind = OpenTextField(
        known_values=ModerationCase.Kind.values, help_text="How it began."
    )
    target_type = OpenTextField(
        known_values=TargetType.values, help_text="What it is about."
    )
    reason = OpenTextField(
        known_values=REASONS, allow_null=True, help_text="That of the first report."
    )
    action = OpenTextField(
        known_values=ACTIONS,
        allow_null=True,
        help_text="The last decision; null without one.",
    )
    opened_at = serializers.DateTimeField(
        help_text="When it was opened, or opened again."
    )


class CaseDetailSerializer(CaseSerializer):
    """A case with what is needed to decide it."""

    target = CaseTargetSerializer(
        allow_null=True, help_text="As it is now; null once it is gone."
    )
    reports = CaseReportSerializer(
        many=True, help_text="All reports, the oldest first."
    )
    outside_reports = OutsideReportSerializer(
        many=True, help_text="Reports of people without an account, the oldest first."
    )
    decisions = DecisionSerializer(
        many=True, help_text="All decisions, the oldest first."
    )
    earlier_cases = EarlierCaseSerializer(
        many=True, help_text="The newest 20 other cases of the author."
    )


class InboxCaseSerializer(Serializer):
    """What was done with something that the caller wrote, and why."""

    action = OpenTextField(
        known_values=ACTIONS, allow_null=True, help_text="What was done."
    )
    reason = OpenTextField(known_values=REASONS, allow_null=True, help_text="Why.")
    decided_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was decided; null while nobody has."
    )
    until = serializers.DateTimeField(
        allow_null=True, help_text="When it ends by itself; null if it does not."
    )
    appeal_until = serializers.DateTimeField(
        allow_null=True, help_text="Until when the caller can object; or null."
    )
    appeal = serializers.CharField(
        allow_null=True, help_text="What the caller has said against it."
    )
    title = serializers.CharField(help_text="The title of what it is about.")
    content = serializers.CharField(
        help_text="The text; empty once it has been removed."
    )


class ModerationDaySerializer(Serializer):
    day = serializers.DateField(help_text="A day of the home time zone.")
    hidden = serializers.IntegerField(
        help_text="Decisions that hid or deleted something, with automatic ones."
    )
    held = serializers.IntegerField(help_text="Posts of newcomers that were held.")


class ModerationFiguresSerializer(Serializer):
    open_cases = serializers.IntegerField(help_text="Cases that nobody has decided.")
    oldest_opened_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when the oldest of them waits; or null."
    )
    held_posts = serializers.IntegerField(
        help_text="Posts of newcomers that wait for staff."
    )
    days = ModerationDaySerializer(
        many=True, help_text="The last 30 days, the oldest first."
    )
