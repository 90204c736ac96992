from django.contrib.postgres.indexes import BrinIndex, OpClass
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


def add_index(model: str, index: models.Index) -> list[object]:
    """Return operations that also mend the index of an interrupted attempt."""
    sql = f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}"
    return [
        migrations.RunSQL(sql, migrations.RunSQL.noop),
        AddIndexConcurrently(model_name=model, index=index),
    ]


def index_hidden(name: str) -> models.Index:
    return models.Index(condition=Q(is_hidden=True), fields=["-id"], name=name)


def index_by_writing_time(name: str) -> BrinIndex:
    column = OpClass("created_at", name="timestamptz_minmax_multi_ops")
    return BrinIndex(column, autosummarize=True, name=name)


class Migration(migrations.Migration):
    # Posts, comments and votes are written while the indexes are built.
    atomic = False
    dependencies = [("board", "0011_object_deletions")]

    operations = [
        *add_index("post", index_hidden("board_post_hidden")),
        *add_index("post", index_by_writing_time("board_post_written")),
        *add_index("comment", index_hidden("board_comment_hidden")),
        *add_index("comment", index_by_writing_time("board_comment_written")),
        *add_index("postvote", index_by_writing_time("board_post_vote_written")),
        *add_index("commentvote", index_by_writing_time("board_comment_vote_written")),
    ]
