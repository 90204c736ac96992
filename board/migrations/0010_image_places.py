from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models
from django.db.models import Q

PLACE = "board_image_lies_in_one_place"
OBJECT = "board_image_by_object"


class Migration(migrations.Migration):
    # Images are written while the constraint is checked and the index is built.
    atomic = False
    dependencies = [("board", "0009_image_objects")]

    operations = [
        # An interrupted attempt leaves the constraint, and an invalid index.
        migrations.RunSQL(
            f"ALTER TABLE board_image DROP CONSTRAINT IF EXISTS {PLACE}",
            migrations.RunSQL.noop,
        ),
        AddConstraintNotValid(
            model_name="image",
            constraint=models.CheckConstraint(
                condition=Q(content__isnull=False, object_key=None)
                | Q(content=None, object_key__isnull=False),
                name=PLACE,
            ),
        ),
        ValidateConstraint(model_name="image", name=PLACE),
        migrations.RunSQL(
            f"DROP INDEX CONCURRENTLY IF EXISTS {OBJECT}", migrations.RunSQL.noop
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"CREATE UNIQUE INDEX CONCURRENTLY {OBJECT}"
                    " ON board_image (object_key) WHERE object_key IS NOT NULL",
                    f"DROP INDEX CONCURRENTLY IF EXISTS {OBJECT}",
                ),
            ],
            state_operations=[
                migrations.AddConstraint(
                    model_name="image",
                    constraint=models.UniqueConstraint(
                        fields=["object_key"],
                        condition=Q(object_key__isnull=False),
                        name=OBJECT,
                    ),
                ),
            ],
        ),
    ]
