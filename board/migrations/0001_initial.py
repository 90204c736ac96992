import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.lookups
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="PostCount",
            fields=[
                (
                    "category",
                    models.CharField(
                        choices=[
                            ("community", "Community"),
                            ("saving", "Saving"),
                            ("tips", "Tips"),
                        ],
                        max_length=9,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("posts", models.IntegerField()),
            ],
            options={
                "db_table": "board_post_count",
                "ordering": ["category"],
            },
        ),
        migrations.CreateModel(
            name="Image",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("content", models.BinaryField()),
                ("content_type", models.CharField(max_length=10)),
                ("width", models.IntegerField()),
                ("height", models.IntegerField()),
                ("size", models.IntegerField()),
                ("content_hash", models.CharField(max_length=64)),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "unused_since",
                    models.DateTimeField(default=django.utils.timezone.now, null=True),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "board_image",
                "verbose_name": "image",
                "verbose_name_plural": "images",
                "ordering": ["-created_at", "id"],
                "indexes": [
                    models.Index(
                        fields=["member", "-created_at"], name="board_image_by_member"
                    ),
                    models.Index(
                        fields=["-created_at", "id"], name="board_image_newest"
                    ),
                    models.Index(
                        condition=models.Q(("unused_since__isnull", False)),
                        fields=["unused_since"],
                        name="board_image_unused",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Post",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("up_count", models.IntegerField(default=0, editable=False)),
                ("down_count", models.IntegerField(default=0, editable=False)),
                (
                    "is_popular",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.lookups.GreaterThanOrEqual(
                            models.F("up_count"), 50
                        ),
                        output_field=models.BooleanField(),
                    ),
                ),
                ("is_hidden", models.BooleanField(default=False)),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "category",
                    models.CharField(
                        choices=[
                            ("community", "Community"),
                            ("saving", "Saving"),
                            ("tips", "Tips"),
                        ],
                        max_length=9,
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("content", models.TextField()),
                ("search_text", models.TextField(editable=False)),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("is_notice", models.BooleanField(default=False)),
                ("comment_count", models.IntegerField(default=0, editable=False)),
                (
                    "member",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "board_post",
                "verbose_name": "post",
                "verbose_name_plural": "posts",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("is_hidden", False), ("is_notice", False)),
                        fields=["-id"],
                        name="board_post_regular",
                    ),
                    models.Index(
                        condition=models.Q(("is_hidden", False), ("is_notice", False)),
                        fields=["category", "-id"],
                        name="board_post_by_category",
                    ),
                    models.Index(
                        condition=models.Q(("is_hidden", False), ("is_notice", True)),
                        fields=["-id"],
                        name="board_post_notices",
                    ),
                    models.Index(
                        condition=models.Q(("is_hidden", False), ("is_popular", True)),
                        fields=["created_at"],
                        name="board_post_hot",
                    ),
                    models.Index(
                        fields=["member", "-id"],
                        include=("is_hidden",),
                        name="board_post_by_member",
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["tags"], name="board_post_tags"
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            "search_text", name="gin_trgm_ops"
                        ),
                        name="board_post_search_text",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("category__in", ["community", "saving", "tips"])
                        ),
                        name="board_post_category_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("comment_count__gte", 0),
                            ("down_count__gte", 0),
                            ("up_count__gte", 0),
                        ),
                        name="board_post_counts_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("up_count", models.IntegerField(default=0, editable=False)),
                ("down_count", models.IntegerField(default=0, editable=False)),
                (
                    "is_popular",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.lookups.GreaterThanOrEqual(
                            models.F("up_count"), 50
                        ),
                        output_field=models.BooleanField(),
                    ),
                ),
                ("is_hidden", models.BooleanField(default=False)),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                ("content", models.CharField(max_length=5000)),
                (
                    "member",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "post",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="board.post",
                    ),
                ),
            ],
            options={
                "db_table": "board_comment",
                "verbose_name": "comment",
                "verbose_name_plural": "comments",
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        fields=["post", "id"],
                        include=("is_hidden",),
                        name="board_comment_by_post",
                    ),
                    models.Index(
                        fields=["member", "-id"], name="board_comment_by_member"
                    ),
                    models.Index(
                        condition=models.Q(("is_hidden", False), ("is_popular", True)),
                        fields=["post", "created_at"],
                        name="board_comment_hot",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("down_count__gte", 0), ("up_count__gte", 0)
                        ),
                        name="board_comment_counts_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PostImage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "post_id",
                        "image_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "image",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shown_in",
                        to="board.image",
                    ),
                ),
                (
                    "post",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shown_images",
                        to="board.post",
                    ),
                ),
            ],
            options={
                "db_table": "board_post_image",
                "ordering": ["post_id", "image_id"],
            },
        ),
        migrations.CreateModel(
            name="PostVote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("value", models.SmallIntegerField()),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "post",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="votes",
                        to="board.post",
                    ),
                ),
            ],
            options={
                "db_table": "board_post_vote",
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        fields=["member", "post"], name="board_post_vote_by_member"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("post", "member"),
                        include=("value",),
                        name="board_post_vote_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value__in", (1, -1))),
                        name="board_post_vote_up_or_down",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CommentVote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("value", models.SmallIntegerField()),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                (
                    "comment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="votes",
                        to="board.comment",
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "board_comment_vote",
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        fields=["member", "comment"],
                        name="board_comment_vote_by_member",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("comment", "member"),
                        include=("value",),
                        name="board_comment_vote_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value__in", (1, -1))),
                        name="board_comment_vote_up_or_down",
                    ),
                ],
            },
        ),
        # Functions, triggers and first rows.
        sql_file("board", "vote_counts", "0001"),
        sql_file("board", "comment_counts", "0001"),
        sql_file("board", "post_counts", "0001"),
    ]
