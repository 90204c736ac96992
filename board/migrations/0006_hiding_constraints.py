from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

REASONS = ["AUTHOR", "STAFF", "REPORTS", "HELD", "BLIND"]
# All that is hidden in the release before was hidden by staff.
NAME_REASON = """
    UPDATE {table} SET hidden_reason = 'STAFF'
    WHERE is_hidden AND hidden_reason IS NULL
"""


def index_operations(model, index):
    """Build an index while rows are written."""
    return [
        # An interrupted attempt leaves an invalid index.
        migrations.RunSQL(
            f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(model_name=model, index=index),
    ]


def constraint_operations(model, condition, name):
    return [
        migrations.RunSQL(
            f"ALTER TABLE board_{model} DROP CONSTRAINT IF EXISTS {name}",
            migrations.RunSQL.noop,
        ),
        AddConstraintNotValid(
            model_name=model,
            constraint=models.CheckConstraint(condition=condition, name=name),
        ),
        ValidateConstraint(model_name=model, name=name),
    ]


def hiding_operations(model):
    table = f"board_{model}"
    has_reason = Q(
        is_hidden=True, hidden_reason__isnull=False, hidden_reason__in=REASONS
    )
    return [
        migrations.RunSQL(NAME_REASON.format(table=table), migrations.RunSQL.noop),
        *constraint_operations(
            model,
            Q(is_hidden=False, hidden_reason=None) | has_reason,
            f"{table}_hidden_for_reason",
        ),
        *constraint_operations(
            model,
            Q(remove_after=None) | Q(is_hidden=True),
            f"{table}_removed_is_hidden",
        ),
        *index_operations(
            model,
            models.Index(
                fields=["remove_after"],
                condition=Q(remove_after__isnull=False),
                name=f"{table}_removal",
            ),
        ),
    ]


class Migration(migrations.Migration):
    # Posts and comments are written while the indexes are built.
    atomic = False
    dependencies = [("board", "0005_hidden_reasons")]

    operations = [
        *hiding_operations("post"),
        *hiding_operations("comment"),
        *constraint_operations(
            "comment",
            Q(member__isnull=False) | Q(is_hidden=True, content=""),
            "board_comment_without_author_is_empty",
        ),
        *index_operations(
            "comment",
            models.Index(
                F("post"),
                Coalesce("parent", "id"),
                F("id"),
                include=["is_hidden"],
                name="board_comment_threads",
            ),
        ),
        *index_operations(
            "comment",
            models.Index(
                fields=["parent"],
                condition=Q(parent__isnull=False),
                name="board_comment_replies",
            ),
        ),
        *index_operations(
            "comment",
            models.Index(
                fields=["post"],
                condition=Q(is_hidden=True, parent=None),
                name="board_comment_hidden_roots",
            ),
        ),
        RemoveIndexConcurrently(model_name="comment", name="board_comment_by_post"),
    ]
